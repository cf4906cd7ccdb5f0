"""The Synth90k tree into records."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.train.data.samples import open_words, picture
from trainferry.errors import DataError
from trainferry.train.data.example import parse_example
from trainferry.train.data.pictures import encode_jpeg
from trainferry.train.data.tfrecord import RecordFile, find_records
from trainferry.train.data.words import synth90k as module
from trainferry.train.data.words.alphabet import LATIN36, read_alphabet
from trainferry.train.data.words.synth90k import Synth90kOptions, pack_synth90k

WORDS = ["ferry", "train", "harbour", "42nd"]


def test_labels_come_from_the_lexicon_and_bytes_from_the_files(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    report = pack_synth90k(tree, tmp_path / "out", Synth90kOptions())
    assert report.written == 24
    for split in ("train", "val", "test"):
        (path,) = find_records(tmp_path / "out", split)
        records = open_words([path])
        assert [records.text(number) for number in range(8)] == WORDS * 2
        example = parse_example(RecordFile(path)[0])
        assert example["image/path"] == [b"1/0/0_x_0.jpg"]
        assert example["image/encoded"] == [(tree / "1/0/0_x_0.jpg").read_bytes()]


def test_corrupt_pictures_and_lines_are_counted_and_skipped(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    (tree / "1/0/0_x_0.jpg").write_bytes(b"")
    (tree / "1/0/1_x_1.jpg").write_bytes((tree / "1/0/1_x_1.jpg").read_bytes()[:200])
    with (tree / "annotation_train.txt").open("a") as file:
        file.write("./1/0/2_x_2.jpg 99\nnonsense\n../../etc/passwd 1\n./1/0/gone.jpg 1\n")
    report = pack_synth90k(tree, tmp_path / "out", Synth90kOptions(splits=("train",)))
    assert report.written == 6
    assert report.reasons() == {
        "unreadable picture": 2,
        "index beyond the lexicon": 1,
        "line that is not `path index`": 1,
        "path outside the folder": 1,
        "picture cannot be read": 1,
    }


def test_every_line_is_in_exactly_one_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LEAST_SHARD_BYTES", 1)
    tree = _tree(tmp_path)
    for shards in (1, 2, 3, 7, 40):
        folder = tmp_path / f"out{shards}"
        options = Synth90kOptions(splits=("train",), shards=shards)
        assert pack_synth90k(tree, folder, options).written == 8
        records = open_words(find_records(folder, "train"))
        assert [records.text(number) for number in range(8)] == WORDS * 2


@pytest.mark.cluster
def test_a_stopped_command_keeps_finished_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LEAST_SHARD_BYTES", 1)
    tree = _tree(tmp_path)
    (tree / "1/0/0_x_0.jpg").write_bytes(b"")
    options = Synth90kOptions(splits=("train",), shards=4, processes=2)
    whole = pack_synth90k(tree, tmp_path / "out", options)
    first, second, *_ = find_records(tmp_path / "out", "train")
    kept = first.stat().st_mtime_ns
    content = second.read_bytes()
    second.unlink()
    leftover = second.with_name(f".{second.name}.123.part")
    leftover.write_bytes(b"half a file")
    again = pack_synth90k(tree, tmp_path / "out", options)
    assert first.stat().st_mtime_ns == kept
    assert second.read_bytes() == content
    assert not leftover.exists()
    assert again.kept_files == 3
    assert (again.written, again.skipped) == (whole.written, whole.skipped)


def test_a_folder_begun_with_other_options_is_refused(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    pack_synth90k(tree, tmp_path / "out", Synth90kOptions(shards=2))
    with pytest.raises(DataError, match="other data or options"):
        pack_synth90k(tree, tmp_path / "out", Synth90kOptions(shards=3))


def test_the_raw_layout_comes_with_its_dictionaries(tmp_path: Path) -> None:
    options = Synth90kOptions(splits=("test",), layout="raw")
    pack_synth90k(_tree(tmp_path), tmp_path / "out", options)
    assert read_alphabet(tmp_path / "out").characters == LATIN36
    records = open_words(find_records(tmp_path / "out", "test"))
    sample = records.sample(3)
    assert (sample.text, sample.name) == ("42nd", "1/0/3_x_3.jpg")
    assert sample.picture.shape == (32, 100, 3)


@pytest.mark.parametrize("name", ["lexicon.txt", "annotation_val.txt"])
def test_a_tree_without_its_lists_is_told(tmp_path: Path, name: str) -> None:
    tree = _tree(tmp_path)
    (tree / name).unlink()
    with pytest.raises(DataError, match=name):
        pack_synth90k(tree, tmp_path / "out", Synth90kOptions())
    assert not (tmp_path / "out").exists()


def test_a_mark_at_the_start_of_the_lexicon_is_no_letter(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    (tree / "lexicon.txt").write_text("\n".join(WORDS), encoding="utf-8-sig")
    pack_synth90k(tree, tmp_path / "out", Synth90kOptions(splits=("val",)))
    assert open_words(find_records(tmp_path / "out", "val")).text(0) == WORDS[0]


def test_an_absurd_index_is_counted(tmp_path: Path) -> None:
    tree = _tree(tmp_path)
    with (tree / "annotation_val.txt").open("a") as file:
        file.write("x.jpg " + "9" * 5000 + "\n")
    report = pack_synth90k(tree, tmp_path / "out", Synth90kOptions(splits=("val",)))
    assert report.reasons() == {"line that is not `path index`": 1}


def _tree(tmp_path: Path) -> Path:
    tree = tmp_path / "90kDICT32px"
    (tree / "1" / "0").mkdir(parents=True)
    (tree / "lexicon.txt").write_text("\n".join(WORDS) + "\n")
    lines = []
    for number in range(8):
        name = f"1/0/{number}_x_{number % 4}.jpg"
        (tree / name).write_bytes(encode_jpeg(picture(number, 31, 60 + number), 80))
        lines.append(f"./{name} {number % 4}\n")
    for split in ("train", "val", "test"):
        (tree / f"annotation_{split}.txt").write_text("".join(lines))
    return tree
