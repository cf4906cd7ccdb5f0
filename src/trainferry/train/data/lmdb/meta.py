"""Where the tree of an LMDB file begins, as the newer of its two meta pages says.

Format 1, that of LMDB 0.9, as 64-bit little-endian machines write it:

page    uint64 number | uint16 - | uint16 kind | uint16 lower | uint16 upper
tree    uint32 - | uint16 flags | uint16 depth | uint64 branches, leaves, overflows, entries, root
meta    page | uint32 magic | uint32 version | uint64 address, map size | tree of free pages |
        tree of entries | uint64 last page | uint64 transaction

The free pages' tree has the size of a page where others have nothing.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from trainferry.errors import RecordError

PAGE = struct.Struct("<QHHHH")
_META = struct.Struct("<IIQQ IHHQQQQQ IHHQQQQQ QQ".replace(" ", ""))

_MAGIC = 0xBEEFC0DE
_VERSION = 1
_META_PAGE = 0x08
_NO_PAGE = 2**64 - 1
_DEEPEST = 32
_PAGE_SIZES = tuple(1 << power for power in range(9, 16))
_SEVERAL_VALUES, _OTHER_ORDER = 0x04, 0x02 | 0x08

MOVE_HINT = "mdb_dump it where it was made, and mdb_load what that wrote here; LMDB has both tools"


@dataclass(frozen=True)
class Meta:
    """One state of the file; `depth` counts the pages from the root to an entry, both included."""

    page_bytes: int
    root: int | None
    depth: int
    entries: int
    last_page: int
    transaction: int


def read_meta(view: memoryview, path: Path) -> Meta:
    """Return the newer of the meta pages that are whole. Raises RecordError when none is."""
    found = [_parse(view, offset, path) for offset in (0, *_PAGE_SIZES)]
    metas = [meta for meta in found if meta is not None]
    if not metas:
        raise _no_lmdb(view, path)
    return max(metas, key=lambda meta: meta.transaction)


def _parse(view: memoryview, offset: int, path: Path) -> Meta | None:
    """Read the first meta page at 0; the second lies at the size of a page, its number is 1."""
    if offset + PAGE.size + _META.size > len(view):
        return None
    number, _, kind, _, _ = PAGE.unpack_from(view, offset)
    magic, version, _, _, *rest = _META.unpack_from(view, offset + PAGE.size)
    if magic != _MAGIC or not kind & _META_PAGE or number != (1 if offset else 0):
        return None
    _check_version(version, path)
    page_bytes, main = rest[0], rest[8:16]
    _, flags, depth, _, _, _, entries, root = main
    root = None if root == _NO_PAGE else root
    if page_bytes not in _PAGE_SIZES or offset not in (0, page_bytes):
        return None
    if depth > _DEEPEST or (depth == 0) != (root is None):
        return None
    _check_flags(flags, path)
    return Meta(page_bytes, root, depth, entries, rest[16], rest[17])


def _check_version(version: int, path: Path) -> None:
    if version != _VERSION:
        raise RecordError(
            f"`{path}` is an LMDB file of format {version}; only format {_VERSION}, that of "
            "LMDB 0.9, can be read",
            hint="mdb_dump it with the LMDB that wrote it, and mdb_load what that wrote with 0.9",
        )


def _check_flags(flags: int, path: Path) -> None:
    if flags & _SEVERAL_VALUES:
        raise RecordError(
            f"`{path}` is an LMDB file with several values for one key (DUPSORT)",
            hint="copy it into one with a value for each key, such as `label-000000001`",
        )
    if flags & _OTHER_ORDER:
        raise RecordError(
            f"`{path}` is an LMDB file whose keys are numbers or sorted from their end",
            hint="copy it into one with plain keys, such as `label-000000001`",
        )


def _no_lmdb(view: memoryview, path: Path) -> RecordError:
    """Say what the file is instead, as far as its first bytes tell."""
    head = bytes(view[:24])
    little, big = _MAGIC.to_bytes(4, "little"), _MAGIC.to_bytes(4, "big")
    if head[:4] in (little, big):
        return RecordError(f"`{path}` is the lock of an LMDB file", hint="pass data.mdb, beside it")
    if head[16:20] == big or head[12:16] == big:
        return RecordError(
            f"`{path}` is an LMDB file of a big-endian machine, which cannot be read",
            hint=MOVE_HINT,
        )
    if head[12:16] == little:
        return RecordError(
            f"`{path}` is an LMDB file of a 32-bit machine, which cannot be read", hint=MOVE_HINT
        )
    if head[16:20] == little:
        return RecordError(
            f"`{path}` is an LMDB file whose first pages are cut short or damaged",
            hint="copy or download it again",
        )
    return RecordError(
        f"`{path}` is no LMDB file; it starts with {head[:8]!r}" if head else f"`{path}` is empty",
        hint="pass data.mdb of an LMDB folder, or the folder",
    )
