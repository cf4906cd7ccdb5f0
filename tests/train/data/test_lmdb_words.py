"""LMDB files of words into records."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from tests.train.data.lmdb_files import lmdb, word_entries, write_lmdb
from tests.train.data.samples import open_words, picture, saved
from trainferry.errors import DataError, RecordError
from trainferry.train.data.example import parse_example
from trainferry.train.data.pictures import encode_jpeg, encode_png
from trainferry.train.data.tfrecord import RecordFile, find_records
from trainferry.train.data.words import lmdb as module
from trainferry.train.data.words.lmdb import LmdbOptions, pack_lmdbs
from trainferry.train.data.words.lmdb_tree import find_word_lmdbs


def test_pictures_are_kept_byte_for_byte(tmp_path: Path) -> None:
    words = [(encode_jpeg(picture(1), 80), "Ferry"), (encode_png(picture(2)), "zür 1")]
    write_lmdb(tmp_path / "set", word_entries(words))
    report = pack_lmdbs(find_word_lmdbs([tmp_path / "set"]), tmp_path / "out", LmdbOptions())
    assert (report.written, report.skipped) == (2, [])
    (path,) = find_records(tmp_path / "out", "train")
    first, second = (parse_example(RecordFile(path)[number]) for number in (0, 1))
    assert first["image/encoded"] == [words[0][0]]
    assert first["image/path"] == [b"set/image-000000001"]
    assert second["image/encoded"] == [words[1][0]]
    assert second["image/text"] == ["zür 1".encode()]


def test_other_kinds_of_pictures_become_png(tmp_path: Path) -> None:
    bitmap = saved(Image.fromarray(picture()), "BMP")
    write_lmdb(tmp_path / "set", word_entries([(bitmap, "word")]))
    pack_lmdbs(find_word_lmdbs([tmp_path / "set"]), tmp_path / "out", LmdbOptions())
    (path,) = find_records(tmp_path / "out", "train")
    assert parse_example(RecordFile(path)[0])["image/encoded"] == [encode_png(picture())]


def test_what_a_sample_lacks_is_counted_by_reason(tmp_path: Path) -> None:
    entries = word_entries([(encode_png(picture(n)), f"word{n}") for n in range(8)])
    del entries[b"image-000000002"], entries[b"label-000000003"]
    del entries[b"image-000000004"], entries[b"label-000000004"]
    entries[b"label-000000005"] = b""
    entries[b"label-000000006"] = "zür".encode("latin-1")
    entries[b"image-000000007"] = b"no picture"
    write_lmdb(tmp_path / "set", entries, {b"label-00000000x": b"of no number", b"zzz": b"more"})
    report = pack_lmdbs(find_word_lmdbs([tmp_path / "set"]), tmp_path / "out", LmdbOptions())
    assert report.reasons() == {
        "no picture of that number": 1,
        "no label of that number": 1,
        "no picture and no label of that number": 1,
        "empty text": 1,
        "label that is not UTF-8": 1,
        "unreadable picture": 1,
    }
    assert [name for name, _ in report.skipped] == [f"set/image-{n:09d}" for n in range(2, 8)]
    records = open_words(find_records(tmp_path / "out", "train"))
    assert [records.text(number) for number in range(len(records))] == ["word0", "word7"]


def test_labels_behind_the_last_picture_are_not_read(tmp_path: Path) -> None:
    entries = word_entries([(encode_png(picture(n)), f"word{n}") for n in range(3)])
    entries[b"num-samples"] = b"2"
    write_lmdb(tmp_path / "set", entries)
    (found,) = find_word_lmdbs([tmp_path / "set"])
    assert (found.samples, found.entries, found.expected) == (2, 7, 5)
    assert pack_lmdbs([found], tmp_path / "out", LmdbOptions()).written == 2


def test_a_tree_is_read_in_order_and_each_word_tells_its_set(tmp_path: Path) -> None:
    for place in ("training/ST", "training/MJ/MJ_train", "training/MJ/MJ_test"):
        write_lmdb(tmp_path / place, word_entries([(encode_png(picture()), Path(place).name)]))
    found = find_word_lmdbs([tmp_path / "training"])
    names = ["training/MJ/MJ_test", "training/MJ/MJ_train", "training/ST"]
    assert [file.name for file in found] == names
    pack_lmdbs(found, tmp_path / "out", LmdbOptions())
    records = open_words(find_records(tmp_path / "out", "train"), case="keep")
    assert [records.text(number) for number in range(3)] == ["MJ_test", "MJ_train", "ST"]
    assert records.name(2) == "training/ST/image-000000001"


def test_a_bare_file_and_a_data_mdb_are_sources_too(tmp_path: Path) -> None:
    path = write_lmdb(tmp_path / "folder", word_entries([(encode_png(picture()), "a")]))
    bare = tmp_path / "words.mdb"
    bare.write_bytes(path.read_bytes())
    assert [file.name for file in find_word_lmdbs([path, bare])] == ["folder", "words"]


def test_links_are_followed_once(tmp_path: Path) -> None:
    write_lmdb(tmp_path / "elsewhere" / "a", word_entries([(encode_png(picture()), "a")]))
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "linked").symlink_to(tmp_path / "elsewhere")
    (tree / "again").symlink_to(tree)
    assert [file.name for file in find_word_lmdbs([tree])] == ["tree/linked/a"]


def test_the_same_set_is_not_read_twice(tmp_path: Path) -> None:
    write_lmdb(tmp_path / "a" / "b", word_entries([(encode_png(picture()), "a")]))
    with pytest.raises(DataError, match="was given before"):
        find_word_lmdbs([tmp_path / "a", tmp_path / "a" / "b"])


def test_sets_to_train_on_and_to_score_do_not_end_in_one_split(tmp_path: Path) -> None:
    places = ("training/ST", "validation", "evaluation/IC13")
    for place in places:
        write_lmdb(tmp_path / place, word_entries([(encode_png(picture()), "a")]))
    with pytest.raises(DataError, match="sets of several splits") as caught:
        find_word_lmdbs([tmp_path])
    assert f"`{tmp_path / 'evaluation'}` with --split test" in caught.value.hint
    assert len(find_word_lmdbs([tmp_path / place for place in places])) == 3


@pytest.mark.parametrize(
    ("source", "what"), [("nowhere", "does not exist"), ("empty", r"no data\.mdb in")]
)
def test_a_source_without_an_lmdb_is_told(tmp_path: Path, source: str, what: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=what):
        find_word_lmdbs([tmp_path / source])


def test_an_lmdb_of_something_else_shows_its_keys(tmp_path: Path) -> None:
    write_lmdb(tmp_path / "set", {b"__len__": b"2", b"0": b"x", b"1": b"y"})
    with pytest.raises(RecordError, match="no `num-samples`; its first keys are: `0`, `1`"):
        find_word_lmdbs([tmp_path / "set"])


@pytest.mark.parametrize("count", [b"", b"many", b"-1", b"0", b"4", b"9" * 30])
def test_a_count_that_cannot_be_is_refused(tmp_path: Path, count: bytes) -> None:
    write_lmdb(tmp_path / "set", {**word_entries([(b"x", "a")]), b"num-samples": count})
    with pytest.raises(RecordError, match="in `num-samples`, and has 3 entries"):
        find_word_lmdbs([tmp_path / "set"])


def test_a_count_is_not_believed_where_so_many_entries_do_not_fit(tmp_path: Path) -> None:
    entries = {**word_entries([(encode_png(picture()), "a")]), b"num-samples": b"900000000"}
    path = write_lmdb(tmp_path / "set", entries)
    data = bytearray(path.read_bytes())
    for page in (0, 4096):  # where each meta page says how many entries there are
        data[page + 120 : page + 128] = (2 * 10**9).to_bytes(8, "little")
    path.write_bytes(data)
    with pytest.raises(RecordError, match="in `num-samples`, and has "):
        find_word_lmdbs([tmp_path / "set"])


def test_labels_alone_are_no_words(tmp_path: Path) -> None:
    write_lmdb(tmp_path / "set", {b"num-samples": b"1", b"label-000000001": b'{"text": "a"}'})
    with pytest.raises(DataError, match=r"not one word .* no picture") as caught:
        pack_lmdbs(find_word_lmdbs([tmp_path / "set"]), tmp_path / "out", LmdbOptions())
    assert "data folder --labels" in caught.value.hint


def test_a_stopped_command_goes_on_and_other_data_is_not_mixed_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WORDS_PER_SHARD", 2)
    words = [(encode_png(picture(n)), f"word{n}") for n in range(5)]
    write_lmdb(tmp_path / "set", word_entries(words))
    found = find_word_lmdbs([tmp_path / "set"])
    whole = pack_lmdbs(found, tmp_path / "out", LmdbOptions())
    whole.files[1].unlink()
    again = pack_lmdbs(found, tmp_path / "out", LmdbOptions())
    assert (again.written, again.kept_files) == (5, 2)
    write_lmdb(tmp_path / "set", {b"label-000000001": b"changed"})
    with pytest.raises(DataError, match="already holds `train` records"):
        pack_lmdbs(find_word_lmdbs([tmp_path / "set"]), tmp_path / "out", LmdbOptions())


@pytest.mark.cluster
def test_several_processes_write_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WORDS_PER_SHARD", 4)
    for name, count in (("a", 10), ("b", 3)):
        words = [(encode_png(picture(n)), f"{name}{n}") for n in range(count)]
        write_lmdb(tmp_path / "sets" / name, word_entries(words))
    told: list[tuple[int, int]] = []
    report = pack_lmdbs(
        find_word_lmdbs([tmp_path / "sets"]),
        tmp_path / "out",
        LmdbOptions(processes=2),
        lambda done, total: told.append((done, total)),
    )
    records = open_words(report.files)
    expected = [f"a{n}" for n in range(10)] + [f"b{n}" for n in range(3)]
    assert [records.text(number) for number in range(13)] == expected
    assert told == [(4, 13), (8, 13), (10, 13), (13, 13)]


def test_a_file_that_the_library_compacted_reads_the_same(tmp_path: Path) -> None:
    words = [(encode_png(picture(n)), f"word{n}") for n in range(20)]
    write_lmdb(tmp_path / "set", word_entries(words))
    (tmp_path / "copy").mkdir()
    with lmdb.open(str(tmp_path / "set")) as environment:
        environment.copy(str(tmp_path / "copy"), compact=True)
    report = pack_lmdbs(find_word_lmdbs([tmp_path / "copy"]), tmp_path / "out", LmdbOptions())
    assert report.written == 20
