"""A folder of pictures with its gt.tsv into records."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from tests.train.data.samples import open_words, picture, saved
from trainferry.errors import DataError, UsageError
from trainferry.train.data.example import parse_example
from trainferry.train.data.pictures import encode_jpeg, encode_png
from trainferry.train.data.tfrecord import RecordFile, find_records
from trainferry.train.data.words import folder as module
from trainferry.train.data.words.alphabet import (
    LATIN36_ZOO,
    Alphabet,
    read_alphabet,
    write_alphabet,
)
from trainferry.train.data.words.folder import FolderOptions, pack_folder


def test_pictures_are_kept_byte_for_byte(tmp_path: Path) -> None:
    source = _folder(tmp_path, "a.jpg\tFerry\nsub/b.png\tzür 1\n")
    report = pack_folder(source, tmp_path / "out", FolderOptions())
    assert (report.written, report.skipped) == (2, [])
    (path,) = find_records(tmp_path / "out", "train")
    first, second = (parse_example(RecordFile(path)[number]) for number in (0, 1))
    assert first["image/encoded"] == [(source / "a.jpg").read_bytes()]
    assert first["image/path"] == [b"a.jpg"]
    assert second["image/encoded"] == [(source / "sub" / "b.png").read_bytes()]
    assert second["image/text"] == ["zür 1".encode()]


def test_other_kinds_of_pictures_become_png(tmp_path: Path) -> None:
    source = _folder(tmp_path, "c.bmp\tword\n")
    (source / "c.bmp").write_bytes(saved(Image.fromarray(picture()), "BMP"))
    pack_folder(source, tmp_path / "out", FolderOptions())
    (path,) = find_records(tmp_path / "out", "train")
    assert parse_example(RecordFile(path)[0])["image/encoded"] == [encode_png(picture())]


def test_white_space_around_a_text_is_kept_and_told(tmp_path: Path) -> None:
    source = _folder(tmp_path, "a.jpg\tplain text\na.jpg\t\tone\nsub/b.png\ttwo \nno tab here \n")
    report = pack_folder(source, tmp_path / "out", FolderOptions())
    (note,) = report.notes
    assert note.endswith("white space, and are kept so: 2, the first '\\tone' of a.jpg")
    assert note in report.summary()
    assert report.to_json()["notes"] == [note]
    records = open_words(find_records(tmp_path / "out", "train"))
    assert [records.text(number) for number in range(3)] == ["plain text", "\tone", "two "]
    (source / "gt.tsv").write_text("a.jpg\tplain text\n")
    assert not pack_folder(source, tmp_path / "plain", FolderOptions()).notes


def test_a_share_of_the_pictures_becomes_the_validation_set(tmp_path: Path) -> None:
    source = _folder(tmp_path, "")
    names = [f"{number}.jpg" for number in range(30)]
    for name in names:
        (source / name).write_bytes((source / "a.jpg").read_bytes())
    lines = [f"{name}\tword {name}" for name in names] + ["0.jpg\tagain", "no tab here"]
    (source / "gt.tsv").write_text("\n".join(lines[:20] + lines[30:]))
    parts = []
    for out, count in (("few", 4), ("all", 6)):
        report = pack_folder(source, tmp_path / out, FolderOptions(validation=0.2))
        assert f"{count + _is_apart(tmp_path / out)} words of them for validation" in report.notes
        assert len(report.skipped) == 1
        train, val = (_names(tmp_path / out, split) for split in ("train", "val"))
        assert not train & val
        assert (len(train), len(val)) == (5 * count - count, count)
        parts.append(val)
        (source / "gt.tsv").write_text("\n".join(lines))
    assert len(parts[0] & parts[1]) >= 3


def test_a_share_is_taken_from_several_training_pictures_alone(tmp_path: Path) -> None:
    source = _folder(tmp_path, "a.jpg\tone\na.jpg\tagain\n")
    with pytest.raises(DataError, match="no second picture"):
        pack_folder(source, tmp_path / "out", FolderOptions(validation=0.5))
    with pytest.raises(UsageError, match="not from `test`"):
        pack_folder(source, tmp_path / "out", FolderOptions("test", validation=0.5))
    assert not (tmp_path / "out").exists()


def _names(folder: Path, split: str) -> set[object]:
    (path,) = find_records(folder, split)
    records = RecordFile(path)
    return {parse_example(records[place])["image/path"][0] for place in range(len(records))}


def _is_apart(folder: Path) -> bool:
    """Whether the picture with two texts is for validation, with both."""
    return b"0.jpg" in _names(folder, "val")


def test_what_cannot_be_packed_is_counted_and_listed(tmp_path: Path) -> None:
    lines = ["a.jpg\tgood", "bad.jpg\tx", "none.jpg\tx", "no tab here", "sub/b.png\t", "cut.jpg\tx"]
    source = _folder(tmp_path, "\n".join(lines))
    (source / "bad.jpg").write_bytes(b"no picture")
    (source / "cut.jpg").write_bytes((source / "a.jpg").read_bytes()[:300])
    report = pack_folder(source, tmp_path / "out", FolderOptions())
    assert report.written == 1
    assert report.reasons() == {
        "unreadable picture": 2,
        "picture cannot be read": 1,
        "line without a tab": 1,
        "empty text": 1,
    }
    listed = (tmp_path / "out" / "tfrecords" / "train_1.skipped.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in listed] == [name for name, _ in report.skipped]
    assert "skipped 5" in report.summary()


@pytest.mark.parametrize("name", ["../secret.jpg", "{root}/secret.jpg", "link/secret.jpg", "a\0b"])
def test_no_path_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    name = name.format(root=tmp_path)
    source = _folder(tmp_path, f"a.jpg\tgood\n{name}\tsecret\n")
    (tmp_path / "secret.jpg").write_bytes(encode_jpeg(picture(), 80))
    (source / "link").symlink_to(tmp_path)
    report = pack_folder(source, tmp_path / "out", FolderOptions())
    assert report.written == 1
    assert report.reasons() == {"path outside the folder": 1}


def test_a_mark_at_the_start_and_windows_line_ends_are_no_text(tmp_path: Path) -> None:
    source = _folder(tmp_path, "\ufeffa.jpg\tone\r\nsub/b.png\ttwo\r\n\r\n")
    pack_folder(source, tmp_path / "out", FolderOptions())
    records = open_words(find_records(tmp_path / "out", "train"))
    assert [records.text(0), records.text(1)] == ["one", "two"]


def test_a_list_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    source = _folder(tmp_path, "")
    (source / "gt.tsv").write_bytes(b"a.jpg\tok\nb.jpg\tz\xfcr\n")
    with pytest.raises(DataError, match=r"line 2 of .* is not UTF-8"):
        pack_folder(source, tmp_path / "out", FolderOptions())


@pytest.mark.parametrize("content", [None, "", "\n\n"])
def test_a_missing_or_empty_list_is_told(tmp_path: Path, content: str | None) -> None:
    source = _folder(tmp_path, content or "")
    if content is None:
        (source / "gt.tsv").unlink()
    with pytest.raises(DataError, match=r"gt\.tsv"):
        pack_folder(source, tmp_path / "out", FolderOptions())


def test_a_folder_without_one_good_picture_is_an_error(tmp_path: Path) -> None:
    source = _folder(tmp_path, "none.jpg\tx\n")
    with pytest.raises(DataError, match="not one word"):
        pack_folder(source, tmp_path / "out", FolderOptions())


def test_two_splits_share_a_folder_and_other_data_is_not_mixed_in(tmp_path: Path) -> None:
    source = _folder(tmp_path, "a.jpg\tone\n")
    pack_folder(source, tmp_path / "out", FolderOptions())
    pack_folder(source, tmp_path / "out", FolderOptions(split="val"))
    assert pack_folder(source, tmp_path / "out", FolderOptions()).kept_files == 1
    (source / "gt.tsv").write_text("a.jpg\tother\n")
    with pytest.raises(DataError, match="already holds `train` records"):
        pack_folder(source, tmp_path / "out", FolderOptions())


def test_raw_records_are_those_of_the_originals(tmp_path: Path) -> None:
    source = _folder(tmp_path, "a.jpg\tFerry\nsub/b.png\tno!\n")
    report = pack_folder(source, tmp_path / "out", FolderOptions(layout="raw"))
    assert report.reasons() == {"unknown character": 1}
    (path,) = find_records(tmp_path / "out", "train")
    example = parse_example(RecordFile(path)[0])
    assert len(example["images"][0]) == 9600  # type: ignore[arg-type]  # bytes
    assert example["labels"] == [15, 14, 27, 27, 34]
    assert example["labels_length"] == [5]
    assert open_words([path]).sample(0).text == "ferry"


@pytest.mark.cluster
def test_several_processes_write_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WORDS_PER_SHARD", 4)
    source = _folder(tmp_path, "".join(f"a.jpg\tword{number}\n" for number in range(10)))
    told: list[tuple[int, int]] = []
    report = pack_folder(
        source,
        tmp_path / "out",
        FolderOptions(processes=2),
        lambda done, total: told.append((done, total)),
    )
    paths = find_records(tmp_path / "out", "train")
    assert report.files == paths
    records = open_words(paths)
    assert [records.text(number) for number in range(10)] == [f"word{n}" for n in range(10)]
    assert told == [(4, 10), (8, 10), (10, 10)]


@pytest.mark.parametrize("split", ["", "../../out", "a/b", "*"])
def test_a_split_is_a_word(tmp_path: Path, split: str) -> None:
    source = _folder(tmp_path, "a.jpg\tgood\n")
    with pytest.raises(DataError, match="cannot name a split"):
        pack_folder(source, tmp_path / "out", FolderOptions(split=split))


def test_a_list_with_commas_is_told_to_have_tabs(tmp_path: Path) -> None:
    source = _folder(tmp_path, "a.jpg,good\n")
    with pytest.raises(DataError, match="line without a tab") as caught:
        pack_folder(source, tmp_path / "out", FolderOptions())
    assert "a tab between file and text" in caught.value.hint


def test_a_list_that_was_corrected_is_packed_into_the_same_folder(tmp_path: Path) -> None:
    source = _folder(tmp_path, "wrong/a.jpg\tgood\n")
    with pytest.raises(DataError, match="not one word"):
        pack_folder(source, tmp_path / "out", FolderOptions())
    (source / "gt.tsv").write_text("a.jpg\tgood\n")
    assert pack_folder(source, tmp_path / "out", FolderOptions()).written == 1


def test_raw_records_are_not_added_to_those_of_another_alphabet(tmp_path: Path) -> None:
    source = _folder(tmp_path, "a.jpg\tgood\n")
    write_alphabet(Alphabet(LATIN36_ZOO), tmp_path / "out")
    with pytest.raises(DataError, match="another alphabet"):
        pack_folder(source, tmp_path / "out", FolderOptions(split="val", layout="raw"))
    assert read_alphabet(tmp_path / "out").characters == LATIN36_ZOO


def _folder(tmp_path: Path, content: str) -> Path:
    source = tmp_path / "pictures"
    (source / "sub").mkdir(parents=True)
    (source / "a.jpg").write_bytes(encode_jpeg(picture(1), 80))
    (source / "sub" / "b.png").write_bytes(encode_png(picture(2)))
    (source / "gt.tsv").write_bytes(content.encode())
    return source
