"""LMDB files written by the real library, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

lmdb = pytest.importorskip("lmdb")


def write_lmdb(folder: Path, *states: Mapping[bytes, bytes | None]) -> Path:
    """Write an LMDB folder; each state is one transaction, in which None deletes a key."""
    folder.mkdir(parents=True, exist_ok=True)
    with lmdb.open(str(folder), map_size=1 << 30, sync=False) as environment:
        for state in states:
            with environment.begin(write=True) as transaction:
                for key, value in state.items():
                    if value is None:
                        transaction.delete(key)
                    else:
                        transaction.put(key, value)
    return folder / "data.mdb"


def read_with_library(path: Path) -> list[tuple[bytes, bytes]]:
    with (
        lmdb.open(str(path.parent), readonly=True, lock=False) as environment,
        environment.begin() as transaction,
    ):
        return list(transaction.cursor())


def word_entries(words: Sequence[tuple[bytes, str]]) -> dict[bytes, bytes | None]:
    """Return the entries of words, pictures and texts, as clovaai's script names them."""
    entries: dict[bytes, bytes | None] = {b"num-samples": b"%d" % len(words)}
    for number, (picture, text) in enumerate(words, 1):
        entries[b"image-%09d" % number] = picture
        entries[b"label-%09d" % number] = text.encode()
    return entries
