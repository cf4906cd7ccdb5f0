"""Record files: whole when written, checked when read."""

from __future__ import annotations

import errno
import io
import multiprocessing
import os
import pickle
import re
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.train.data.samples import picture
from trainferry.errors import DataError, RecordError
from trainferry.train.data import record_index
from trainferry.train.data.crc32c import masked_crc32c
from trainferry.train.data.pictures import encode_jpeg
from trainferry.train.data.tfrecord import (
    RecordFile,
    RecordSet,
    RecordWriter,
    find_records,
    has_records,
    write_records,
)

RECORDS = [b"first", b"", b"third record", bytes(range(12))]


@settings(max_examples=40)
@given(records=st.lists(st.binary(max_size=200), max_size=20))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, records: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("trip") / "a.tfrecords"
    assert write_records(path, records) == len(records)
    assert _read(RecordFile(path)) == records


def test_a_file_that_ends_in_zeros_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecords"
    write_records(path, RECORDS)
    with path.open("ab") as end:
        end.write(bytes(1 << 24))
    tracemalloc.start()
    file = RecordFile(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (_read(file), len(file.damage)) == (RECORDS, 1)
    assert most < 1 << 25


def test_more_records_than_one_portion_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_index, "_CHUNK", 3)
    assert _read(_file(tmp_path)) == RECORDS


def test_files_numbered_with_odd_digits_are_sorted(tmp_path: Path) -> None:
    for name in ("train_1²3.tfrecords", "train_1.tfrecords"):
        write_records(tmp_path / name, RECORDS)
    assert len(find_records(tmp_path, "train")) == 2


def test_records_are_found_by_number(tmp_path: Path) -> None:
    file = _file(tmp_path)
    assert bytes(file[2]) == RECORDS[2]
    assert bytes(file[-1]) == RECORDS[-1]
    with pytest.raises(IndexError):
        file[4]


def test_the_index_is_kept_and_used(tmp_path: Path) -> None:
    file = _file(tmp_path)
    index = file.path.with_name(file.path.name + ".index")
    before = index.stat().st_mtime_ns
    assert _read(RecordFile(file.path)) == RECORDS
    assert index.stat().st_mtime_ns == before


def test_an_index_of_an_older_file_is_made_again(tmp_path: Path) -> None:
    file = _file(tmp_path)
    write_records(file.path, [b"one", b"two"])
    assert _read(RecordFile(file.path)) == [b"one", b"two"]


def test_a_damaged_index_is_made_again(tmp_path: Path) -> None:
    file = _file(tmp_path)
    index = file.path.with_name(file.path.name + ".index")
    whole = index.read_bytes()
    for position in range(len(whole)):
        changed = bytearray(whole)
        changed[position] ^= 1
        index.write_bytes(changed)
        assert _read(RecordFile(file.path)) == RECORDS
    index.write_bytes(whole[: len(whole) // 2])
    assert _read(RecordFile(file.path)) == RECORDS


def test_without_a_writable_folder_the_index_stays_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tfrecords"
    write_records(path, RECORDS)
    really_open = Path.open

    def refuse(self: Path, mode: str = "r", *args: object, **options: object) -> object:
        if "w" in mode:
            raise OSError(errno.EROFS, "Read-only file system")
        return really_open(self, mode, *args, **options)  # type: ignore[call-overload]  # passed on

    monkeypatch.setattr(Path, "open", refuse)
    assert _read(RecordFile(path)) == RECORDS
    assert [item.name for item in tmp_path.iterdir()] == ["a.tfrecords"]


def test_a_file_cut_at_any_byte_gives_the_records_before_the_cut(tmp_path: Path) -> None:
    whole = _file(tmp_path).path.read_bytes()
    ends = _ends()
    path = tmp_path / "cut.tfrecords"
    for cut in range(1, len(whole)):
        path.write_bytes(whole[:cut])
        good = sum(end <= cut for end in ends)
        if cut < 12:
            with pytest.raises(RecordError, match="no record file"):
                RecordFile(path)
            continue
        file = RecordFile(path)
        assert _read(file) == RECORDS[:good]
        assert len(file.damage) == (0 if cut in ends else 1), cut
        if file.damage:
            assert file.damage[0].offset == ([0, *ends])[good]
            assert "truncated" in file.damage[0].reason


def test_every_flipped_bit_is_told_and_costs_at_most_one_record(tmp_path: Path) -> None:
    whole = _file(tmp_path).path.read_bytes()
    path = tmp_path / "flip.tfrecords"
    for bit in range(len(whole) * 8):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        file = RecordFile(path)
        good, errors = [], []
        for number in range(len(file)):
            try:
                good.append(bytes(file[number]))
            except RecordError as error:
                errors.append(str(error))
        assert len(errors) + len(file.damage) == 1
        assert all(re.match(rf"record \d of `{path}` at byte \d+ ", error) for error in errors)
        assert len(good) == len(RECORDS) - 1
        assert all(record in RECORDS for record in good)


def test_a_length_longer_than_the_file_allocates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "huge.tfrecords"
    length = struct.pack("<Q", 1 << 62)
    path.write_bytes(length + struct.pack("<I", masked_crc32c(length)) + b"little data")
    file = RecordFile(path)
    assert len(file) == 0
    assert "truncated record" in str(file.damage[0])


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    path = tmp_path / "empty.tfrecords"
    path.write_bytes(b"")
    assert len(RecordFile(path)) == 0
    assert RecordFile(path).damage == []


def _zip() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("data", b"0" * 100)
    return target.getvalue()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (_zip(), "a ZIP archive"),
        (encode_jpeg(picture(), 80), "a JPEG picture"),
        ("Zürich ist schön.\n".encode() * 50, "text"),
        (b"\x1f\x8b" + bytes(60), "compressed with gzip"),
        (bytes(100), "no record header"),
    ],
)
def test_a_file_of_another_kind_is_refused_by_name(
    tmp_path: Path, content: bytes, kind: str
) -> None:
    path = tmp_path / "other.tfrecords"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=kind):
        RecordFile(path)


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot read"):
        RecordFile(tmp_path / "missing.tfrecords")


def test_several_files_are_one_after_the_other(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.tfrecords" for name in "abc"]
    for path, content in zip(paths, ([b"1", b"2"], [], [b"3"]), strict=True):
        write_records(path, content)
    records = RecordSet(paths)
    assert [bytes(records[number]) for number in range(len(records))] == [b"1", b"2", b"3"]
    assert records.locate(2) == (2, 0)
    assert bytes(records[-1]) == b"3"
    with pytest.raises(IndexError):
        records[3]


def test_a_pickled_set_opens_its_files_again(tmp_path: Path) -> None:
    records = RecordSet([_file(tmp_path).path])
    again = pickle.loads(pickle.dumps(records))
    assert [bytes(again[number]) for number in range(len(again))] == RECORDS


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_other_processes_read_the_same(tmp_path: Path, method: str) -> None:
    records = RecordSet([_file(tmp_path).path])
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(_read_set, (records,)) == RECORDS


def test_files_are_sorted_by_number(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        write_records(tmp_path / "tfrecords" / f"train_{number}.tfrecords", [])
    write_records(tmp_path / "tfrecords" / "val_1.tfrecords", [])
    names = [path.name for path in find_records(tmp_path, "train")]
    assert names == ["train_1.tfrecords", "train_2.tfrecords", "train_10.tfrecords"]
    assert has_records(tmp_path, "val")
    assert not has_records(tmp_path, "test")


def test_a_missing_split_is_told_with_what_is_there(tmp_path: Path) -> None:
    write_records(tmp_path / "val_1.tfrecords", [])
    with pytest.raises(DataError, match=r"no `train\*.tfrecords`.*found val_1.tfrecords"):
        find_records(tmp_path, "train")
    with pytest.raises(DataError, match="no such folder"):
        find_records(tmp_path / "nowhere", "train")


def test_a_block_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    file = _file(tmp_path)
    with pytest.raises(RuntimeError):
        _write_and_fail(file.path)
    assert _read(RecordFile(file.path)) == RECORDS
    assert _parts(tmp_path) == []


def test_a_full_disk_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="no space left while writing"):
        write_records(tmp_path / "a.tfrecords", RECORDS)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_may_not_grow_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    """The kernel itself refuses here; a limit of this process would also hit pytest."""
    program = f"""
import resource, signal
from pathlib import Path
from trainferry.errors import DataError
from trainferry.train.data.tfrecord import write_records
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
try:
    write_records(Path({str(tmp_path / "big.tfrecords")!r}), [bytes(1 << 20)] * 9)
except DataError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=_env()
    )
    assert "no space left while writing" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match="cannot write"):
        write_records(tmp_path / "file" / "a.tfrecords", RECORDS)


def _file(folder: Path) -> RecordFile:
    write_records(folder / "a.tfrecords", RECORDS)
    return RecordFile(folder / "a.tfrecords")


def _read(file: RecordFile) -> list[bytes]:
    return [bytes(file[number]) for number in range(len(file))]


def _read_set(records: RecordSet) -> list[bytes]:
    return [bytes(records[number]) for number in range(len(records))]


def _ends() -> list[int]:
    ends, position = [], 0
    for record in RECORDS:
        position += 16 + len(record)
        ends.append(position)
    return ends


def _write_and_fail(path: Path) -> None:
    with RecordWriter(path) as writer:
        writer.write(b"new")
        raise RuntimeError


def _parts(folder: Path) -> list[str]:
    return [item.name for item in folder.iterdir() if item.name.endswith(".part")]


def _env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("train-00000-of-00002", "these look like photographs"),
        ("fsns-00000-of-00001", "`fsns-00000-of-00001` its name does not say"),
        ("words.txt", "pass the folder that"),
    ],
)
def test_files_that_are_no_record_files_of_words_are_told_apart(
    tmp_path: Path, name: str, hint: str
) -> None:
    (tmp_path / name).touch()
    with pytest.raises(DataError, match=r"no `train\*.tfrecords`") as caught:
        find_records(tmp_path, "train")
    assert hint in caught.value.hint
