"""Records back into pictures and gt.tsv."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.train.data.samples import encoded_word, picture, write_words
from trainferry.errors import DataError
from trainferry.train.data.example import build_example
from trainferry.train.data.new_folder import safe_name
from trainferry.train.data.pictures import decode_picture, encode_jpeg, encode_png
from trainferry.train.data.tfrecord import find_records, write_records
from trainferry.train.data.words.alphabet import LATIN36, Alphabet, write_alphabet
from trainferry.train.data.words.folder import FolderOptions, pack_folder
from trainferry.train.data.words.unpack import unpack_records


def test_a_packed_folder_comes_back_byte_for_byte(tmp_path: Path) -> None:
    source = tmp_path / "pictures"
    (source / "sub").mkdir(parents=True)
    (source / "a.jpg").write_bytes(encode_jpeg(picture(1), 80))
    (source / "sub" / "b.png").write_bytes(encode_png(picture(2)))
    (source / "gt.tsv").write_text("a.jpg\tFerry\nsub/b.png\tzür\t1 \n", encoding="utf-8")
    pack_folder(source, tmp_path / "records", FolderOptions())
    report = unpack_records(find_records(tmp_path / "records", "train"), tmp_path / "back")
    assert report.written == 2
    for name in ("a.jpg", "sub/b.png", "gt.tsv"):
        assert (tmp_path / "back" / name).read_bytes() == (source / name).read_bytes()


@pytest.mark.parametrize("length", [True, False])
def test_raw_pictures_become_png_in_the_right_colours(tmp_path: Path, length: bool) -> None:
    write_alphabet(Alphabet(LATIN36), tmp_path)
    values = picture(0, 32, 100)
    stored = values if length else np.ascontiguousarray(values[:, :, ::-1])
    features: dict[str, bytes | str | int | list[int]] = {
        "images": stored.tobytes(),
        "labels": [10, 11, 36],
        "imagepaths": "x/y.jpg",
    }
    if length:
        features["labels_length"] = 2
    write_records(tmp_path / "train_1.tfrecords", [build_example(features)])
    unpack_records([tmp_path / "train_1.tfrecords"], tmp_path / "back")
    assert (tmp_path / "back" / "gt.tsv").read_text() == "x/y.png\tab\n"
    assert np.array_equal(decode_picture((tmp_path / "back/x/y.png").read_bytes()), values)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("C:\\temp\\x.jpg", "temp/x.jpg"),
        ("a\0b\n.jpg", "a_b_.jpg"),
        ("..", "picture"),
        ("", "picture"),
        (".hidden/.x", "hidden/x"),
        ("ü b.jpg", "ü_b.jpg"),
    ],
)
def test_names_are_made_harmless(name: str, safe: str) -> None:
    assert safe_name(name) == Path(safe)


@given(st.text())
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    safe = safe_name(name)
    assert not safe.is_absolute()
    assert ".." not in safe.parts
    assert len(str(safe)) < 450


def test_hostile_names_stay_inside(tmp_path: Path) -> None:
    names = ["../../up.jpg", "/abs.jpg", "a.jpg", "a.jpg", "a.jpg/b.jpg", "gt.tsv", "x" * 400]
    write_records(tmp_path / "a.tfrecords", [encoded_word("w", name=name) for name in names])
    report = unpack_records([tmp_path / "a.tfrecords"], tmp_path / "in" / "back")
    assert report.written == len(names)
    lines = (tmp_path / "in" / "back" / "gt.tsv").read_text().splitlines()
    written = {line.split("\t")[0] for line in lines}
    assert len(written) == len(names)
    assert all((tmp_path / "in" / "back" / name).is_file() for name in written)
    assert sorted(item.name for item in tmp_path.iterdir()) == [
        "a.tfrecords",
        "a.tfrecords.index",
        "in",
    ]


def test_what_cannot_be_unpacked_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecords"
    write_records(path, [encoded_word("good"), encoded_word("two\nlines"), b"\xff", b"x" * 50])
    path.write_bytes(path.read_bytes()[:-3])
    report = unpack_records([path], tmp_path / "back")
    assert report.written == 1
    assert len(report.skipped) == 3
    assert "skipped 3" in report.summary()
    assert report.to_json()["skipped"] == 3


def test_a_folder_with_files_is_not_touched(tmp_path: Path) -> None:
    path = write_words(tmp_path / "a.tfrecords", ["x"])
    with pytest.raises(DataError, match="not empty"):
        unpack_records([path], tmp_path)


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_words(tmp_path / "a.tfrecords", ["x", "y"])
    really_open = Path.open

    def full(self: Path, mode: str = "r", *args: object, **options: object) -> object:
        if mode == "xb":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return really_open(self, mode, *args, **options)  # type: ignore[call-overload]  # passed on

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(DataError, match="no space left"):
        unpack_records([path], tmp_path / "back")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.tfrecords", "a.tfrecords.index"]


def test_names_too_long_for_a_file_are_cut(tmp_path: Path) -> None:
    names = ["字" * 100 + ".jpg", "字" * 100, "a.jpg", "a.jpg/" + "字/" * 3 + "字" * 90]
    records = [encoded_word("x", name=name) for name in names]
    write_records(tmp_path / "a.tfrecords", records)
    assert unpack_records([tmp_path / "a.tfrecords"], tmp_path / "back").written == 4
    listed = (tmp_path / "back" / "gt.tsv").read_text().splitlines()
    assert all((tmp_path / "back" / line.split("\t")[0]).is_file() for line in listed)


def test_many_pictures_of_one_name_are_told_apart_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_records(tmp_path / "a.tfrecords", [encoded_word("x", name="a.jpg")] * 50)
    tried: list[Path] = []
    path_open = Path.open

    def counting(path: Path, mode: str = "r", **options: Any) -> IO[Any]:
        if mode == "xb":
            tried.append(path)
        return path_open(path, mode, **options)

    monkeypatch.setattr(Path, "open", counting)
    unpack_records([tmp_path / "a.tfrecords"], tmp_path / "back")
    assert len(set(tried)) == len(tried) == 50


@pytest.mark.parametrize("given", [".", "link"])
def test_an_empty_folder_is_filled_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    write_words(tmp_path / "a.tfrecords", ["one"])
    (tmp_path / "back").mkdir()
    (tmp_path / "back" / "link").symlink_to(tmp_path / "other")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / ("other" if given == "." else "back"))
    before = (tmp_path / "other").stat().st_ino
    unpack_records([tmp_path / "a.tfrecords"], Path(given))
    assert (tmp_path / "other").stat().st_ino == before
    assert sorted(path.suffix for path in (tmp_path / "other").iterdir()) == [".jpg", ".tsv"]
