"""LMDB files without the library, compared with the library; and files that are damaged."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from tests.train.data.lmdb_files import lmdb, read_with_library, write_lmdb
from trainferry.errors import RecordError
from trainferry.train.data.lmdb.file import LmdbFile

_PAGE = 4096  # of this machine, and so of the library


@pytest.mark.parametrize("seed", range(8))
def test_entries_are_those_of_the_library(tmp_path: Path, seed: int) -> None:
    path = write_lmdb(tmp_path / "db", *_states(random.Random(seed)))
    file = LmdbFile(path)
    expected = read_with_library(path)
    assert _items(file) == expected
    assert file.meta.entries == len(expected)


def test_reading_may_start_at_any_key(tmp_path: Path) -> None:
    dice = random.Random(1)
    path = write_lmdb(tmp_path / "db", *_states(dice, 3_000))
    expected = read_with_library(path)
    keys = [key for key, _ in expected]
    for _ in range(200):
        first = dice.choice(keys) if dice.random() < 0.5 else dice.randbytes(3)
        assert next((key for key, _ in LmdbFile(path).items(first)), None) == next(
            (key for key in keys if key >= first), None
        )


def test_a_value_is_found_by_its_key(tmp_path: Path) -> None:
    path = write_lmdb(tmp_path / "db", {b"%05d" % n: b"v" * n for n in range(0, 9_000, 3)})
    file = LmdbFile(path)
    assert file.meta.depth > 1
    assert _value(file, b"06000") == b"v" * 6000
    assert _value(file, b"06001") is None
    assert _value(file, b"99999") is None


def test_an_empty_database_has_no_entries(tmp_path: Path) -> None:
    path = write_lmdb(tmp_path / "db", {b"a": b"1"}, {b"a": None})
    assert _items(LmdbFile(path)) == []
    assert _value(LmdbFile(path), b"a") is None


def test_the_newer_of_the_two_states_is_read(tmp_path: Path) -> None:
    path = write_lmdb(tmp_path / "db", {b"a": b"old"}, {b"a": b"newer"}, {b"a": b"newest"})
    assert _value(LmdbFile(path), b"a") == b"newest"


@pytest.mark.parametrize("states", [2, 3])
def test_a_meta_page_that_is_not_whole_leaves_the_other(tmp_path: Path, states: int) -> None:
    path = write_lmdb(tmp_path / "db", *({b"a": b"%d" % n} for n in range(1, states + 1)))
    newest = LmdbFile(path).meta.transaction % 2
    _patch(path, newest * _PAGE + 16, b"\0" * 4)
    assert _value(LmdbFile(path), b"a") == b"%d" % (states - 1)


def test_no_damage_leads_to_anything_but_an_error_or_entries(tmp_path: Path) -> None:
    path = write_lmdb(tmp_path / "db", *_states(random.Random(5), 400))
    whole = path.read_bytes()
    used = 0, 16, *range(16, 160), *(page for page in range(2 * _PAGE, len(whole), _PAGE))
    dice, refused = random.Random(6), 0
    for _ in range(400):
        copy = bytearray(whole)
        for _ in range(3):
            start = dice.choice(used)
            copy[min(start + dice.randrange(40), len(copy) - 1)] = dice.randrange(256)
        path.write_bytes(copy[: dice.choice((len(copy), dice.randrange(len(copy))))])
        try:
            assert len(_items(LmdbFile(path))) <= 2_000
        except RecordError:
            refused += 1
    assert refused > 200


def test_a_file_that_is_cut_short_is_told(tmp_path: Path) -> None:
    path = write_lmdb(tmp_path / "db", {b"%05d" % n: b"v" * 3000 for n in range(500)})
    path.write_bytes(path.read_bytes()[: 100 * _PAGE])
    with pytest.raises(RecordError, match=r"is cut short: .* and has 100") as caught:
        _items(LmdbFile(path))
    assert "again" in caught.value.hint


@pytest.mark.parametrize(
    ("child", "what"),
    [
        ("itself", "is of kind 1, where 2"),
        ("its sibling", "keys that do not rise"),
        ("the meta page", "is of kind 8"),
        ("nowhere", "page 999999 is asked for"),
        ("a page of 48 bits", "is asked for"),
    ],
)
def test_a_branch_that_leads_astray_is_damage(tmp_path: Path, child: str, what: str) -> None:
    path = write_lmdb(tmp_path / "db", {b"%05d" % n: b"v" * 50 for n in range(1_000)})
    meta = LmdbFile(path).meta
    assert meta.root is not None
    assert meta.depth == 2
    root = meta.root * _PAGE
    data = path.read_bytes()
    first, second = (root + place for place in struct.unpack_from("<2H", data, root + 16))
    sibling = struct.unpack_from("<Q", data, first)[0] & (1 << 48) - 1
    number = {
        "itself": meta.root,
        "its sibling": sibling,
        "the meta page": 0,
        "nowhere": 999_999,
        "a page of 48 bits": (1 << 48) - 1,
    }[child]
    _patch(path, second, number.to_bytes(6, "little"))
    with pytest.raises(RecordError, match=what):
        _items(LmdbFile(path))


def test_a_page_that_is_another_one_is_damage(tmp_path: Path) -> None:
    path = write_lmdb(tmp_path / "db", {b"a": b"1"})
    _patch(path, 2 * _PAGE, b"\x07")
    with pytest.raises(RecordError, match="page 2 calls itself page 7"):
        _items(LmdbFile(path))


@pytest.mark.parametrize("lower", [16, 17, 65534])
def test_a_page_without_room_for_its_entries_is_damage(tmp_path: Path, lower: int) -> None:
    path = write_lmdb(tmp_path / "db", {b"a": b"1"})
    _patch(path, 2 * _PAGE + 12, lower.to_bytes(2, "little"))
    with pytest.raises(RecordError, match="holds nothing, or more than fits"):
        _items(LmdbFile(path))


def test_a_large_value_stays_within_its_pages(tmp_path: Path) -> None:
    path = write_lmdb(tmp_path / "db", {b"a": b"v" * 9_000})
    data = path.read_bytes()
    (page,) = (n for n in range(2, len(data) // _PAGE) if data[n * _PAGE + 10] == 4)
    _patch(path, page * _PAGE + 12, b"\x01")
    with pytest.raises(RecordError, match="is shorter than the value"):
        _items(LmdbFile(path))
    _patch(path, page * _PAGE + 12, b"\xff\xff")
    with pytest.raises(RecordError, match="is asked for"):
        _items(LmdbFile(path))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is empty"),
        (b"some text" * 2_000, "is no LMDB file; it starts with b'some tex'"),
        (struct.pack("<I", 0xBEEFC0DE) + b"\0" * 8188, "is the lock"),
        (b"\0" * 12 + struct.pack("<I", 0xBEEFC0DE) + b"\0" * 8176, "of a 32-bit machine"),
        (b"\0" * 12 + struct.pack(">I", 0xBEEFC0DE) + b"\0" * 8176, "of a big-endian machine"),
        (b"\0" * 16 + struct.pack(">I", 0xBEEFC0DE) + b"\0" * 8172, "of a big-endian machine"),
        (b"\0" * 16 + struct.pack("<I", 0xBEEFC0DE) + b"\0" * 8, "cut short or damaged"),
    ],
)
def test_other_files_are_told_apart(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "data.mdb"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=what):
        LmdbFile(path)


def test_a_newer_format_is_refused_by_its_number(tmp_path: Path) -> None:
    path = write_lmdb(tmp_path / "db", {b"a": b"1"})
    _patch(path, 20, struct.pack("<I", 2))
    with pytest.raises(RecordError, match="an LMDB file of format 2; only format 1"):
        LmdbFile(path)


@pytest.mark.parametrize("size", [0, 100, 4095, 1 << 16])
def test_a_page_has_a_size_that_pages_have(tmp_path: Path, size: int) -> None:
    path = write_lmdb(tmp_path / "db", {b"a": b"1"})
    for page in range(2):
        _patch(path, page * _PAGE + 40, size.to_bytes(4, "little"))
    with pytest.raises(RecordError, match="cut short or damaged"):
        LmdbFile(path)


@pytest.mark.parametrize("depth", [0, 33, 65_535])
def test_a_tree_with_a_root_has_a_depth(tmp_path: Path, depth: int) -> None:
    path = write_lmdb(tmp_path / "db", {b"a": b"1"})
    for page in range(2):
        _patch(path, page * _PAGE + 94, depth.to_bytes(2, "little"))
        _patch(path, page * _PAGE + 128, (2).to_bytes(8, "little"))
    with pytest.raises(RecordError, match="cut short or damaged"):
        LmdbFile(path)


def test_databases_inside_the_database_are_refused(tmp_path: Path) -> None:
    with lmdb.open(str(tmp_path / "db"), max_dbs=2) as environment:
        inner = environment.open_db(b"inner")
        with environment.begin(write=True, db=inner) as transaction:
            transaction.put(b"a", b"1")
    with pytest.raises(RecordError, match=r"b'inner' .* is a database of its own"):
        _items(LmdbFile(tmp_path / "db" / "data.mdb"))


@pytest.mark.parametrize(
    ("flags", "what"), [(4, "DUPSORT"), (2, "sorted from their end"), (8, "keys are numbers")]
)
def test_a_database_of_another_kind_is_refused(tmp_path: Path, flags: int, what: str) -> None:
    path = write_lmdb(tmp_path / "db", {b"a": b"1"})
    for page in range(2):
        _patch(path, page * _PAGE + 92, flags.to_bytes(2, "little"))
    with pytest.raises(RecordError, match=what):
        LmdbFile(path)


def _states(dice: random.Random, count: int = 0) -> list[dict[bytes, bytes | None]]:
    """Make up what is written and deleted, in several transactions, large values too."""
    keys = [dice.randbytes(dice.randint(1, 60)) for _ in range(count or dice.randrange(1, 3_000))]
    sizes = (0, 1, 20, 1_000, 2_030, 2_040, 5_000, 20_000)
    written: list[dict[bytes, bytes | None]] = []
    for start in range(0, len(keys), 500):
        some = keys[start : start + 500]
        state: dict[bytes, bytes | None] = {
            key: dice.randbytes(dice.choice(sizes if dice.random() < 0.2 else sizes[:3]))
            for key in some
        }
        written.append(state)
        written.append({key: None for key in keys[:start] if dice.random() < 0.2})
    return written


def _items(file: LmdbFile) -> list[tuple[bytes, bytes]]:
    return [(key, bytes(value)) for key, value in file.items()]


def _value(file: LmdbFile, key: bytes) -> bytes | None:
    value = file.get(key)
    return None if value is None else bytes(value)


def _patch(path: Path, start: int, data: bytes) -> None:
    whole = bytearray(path.read_bytes())
    whole[start : start + len(data)] = data
    path.write_bytes(whole)
