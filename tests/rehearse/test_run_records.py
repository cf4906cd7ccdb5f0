"""Record files are known by their framing, and cut to their first records."""

from __future__ import annotations

import struct
from pathlib import Path, PurePosixPath

import pytest

from trainferry.rehearse.prepare.copy import Link, copy_project, stamp_of
from trainferry.rehearse.prepare.records import cut_records, is_record_file, masked_checksum
from trainferry.rehearse.prepare.tiny import LEAST_RECORDS, cut_copy, cut_data


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    checksums = [struct.pack("<I", masked_checksum(part)) for part in (length, data)]
    return length + checksums[0] + data + checksums[1]


def write_records(path: Path, number: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(record(b"sample %d" % index) for index in range(number)))
    return path


def test_the_checksum_is_that_of_tensorflow() -> None:
    # 123456789 has the CRC-32C e3069283, see RFC 3720.
    value = 0xE3069283
    masked = (((value >> 15) | (value << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    assert masked_checksum(b"123456789") == masked


def test_the_first_records_are_kept_whole(tmp_path: Path) -> None:
    source = write_records(tmp_path / "train.tfrecord", 20)
    cut = cut_records(source, tmp_path / "cut", 3)
    assert cut is not None
    assert (cut.records, cut.bytes_before) == (3, source.stat().st_size)
    expected = b"".join(record(b"sample %d" % index) for index in range(3))
    assert (tmp_path / "cut").read_bytes() == expected
    assert str(cut).startswith("train.tfrecord: first 3 records, ")


def test_a_file_that_is_short_enough_is_left_alone(tmp_path: Path) -> None:
    assert cut_records(write_records(tmp_path / "a", 3), tmp_path / "cut", 3) is None
    assert not (tmp_path / "cut").exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"short", b"\0" * 100, b"\xff" * 100, record(b"x" * 50)[:20]],
    ids=["empty", "short", "zeros", "ones", "cut off in its first record"],
)
def test_other_files_are_no_record_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    assert not is_record_file(tmp_path / "file")


def test_a_damaged_end_is_cut_off(tmp_path: Path) -> None:
    source = write_records(tmp_path / "a", 5)
    source.write_bytes(source.read_bytes()[:-3])
    cut = cut_records(source, tmp_path / "cut", 10)
    assert cut is not None
    assert cut.records == 4


def test_records_in_a_copy_are_cut_and_the_project_is_not(tmp_path: Path) -> None:
    project = tmp_path / "project"
    original = write_records(project / "data" / "train.tfrecord", 50)
    before = original.read_bytes()
    copy = copy_project(project, tmp_path / "copy")
    (copy.root / "data" / "large").symlink_to(original)
    copy.links.append(Link(PurePosixPath("data/large"), original, stamp_of(original)))
    cuts = cut_copy(copy, 20)
    assert [cut.records for cut in cuts] == [10, 10]
    assert original.read_bytes() == before
    assert copy.links == []


def test_many_shards_keep_a_few_records_each(tmp_path: Path) -> None:
    for number in range(100):
        write_records(tmp_path / "shards" / f"train-{number:05d}-of-00100", 20)
    (tmp_path / "shards" / "labels.txt").write_text("cat\n")
    place, cuts = cut_data(tmp_path / "shards", tmp_path / "run", 200)
    assert len(cuts) == 100
    assert {cut.records for cut in cuts} == {LEAST_RECORDS}
    assert (place / "labels.txt").read_text() == "cat\n"
    assert len(list(place.iterdir())) == 101


def test_records_deep_in_a_folder_are_found(tmp_path: Path) -> None:
    data = tmp_path / "data"
    write_records(data / "tfrecords" / "train" / "a.tfrecord", 30)
    write_records(data / "tfrecords" / "short.tfrecord", 2)
    (data / "photos").mkdir()
    (data / "photos" / "1.jpg").touch()
    place, cuts = cut_data(data, tmp_path / "run", 10)
    assert [(cut.name, cut.records) for cut in cuts] == [("a.tfrecord", 8)]
    assert (place / "photos").is_symlink()
    assert (place / "tfrecords" / "short.tfrecord").is_symlink()
    assert (place / "photos" / "1.jpg").exists()
    assert not (place / "tfrecords" / "train").is_symlink()


def test_a_single_file_is_cut_too(tmp_path: Path) -> None:
    source = write_records(tmp_path / "train.tfrecord", 30)
    place, cuts = cut_data(source, tmp_path / "run", 10)
    assert place == tmp_path / "run" / "train.tfrecord"
    assert [cut.records for cut in cuts] == [10]


def test_data_without_records_is_used_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "1.jpg").touch()
    assert cut_data(tmp_path / "photos", tmp_path / "run", 10) == (tmp_path / "photos", [])
