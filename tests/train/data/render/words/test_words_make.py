"""Data sets of rendered words: the same for any number of processes, clear about problems."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.train.data.render.collection import make_collection
from trainferry.errors import DataError
from trainferry.train.data.example import parse_example
from trainferry.train.data.pictures import decode_picture
from trainferry.train.data.render.words.fonts import Typeface, bundled_fonts, find_fonts
from trainferry.train.data.render.words.make import WordsOptions, render_words, write_check_sheet
from trainferry.train.data.render.words.sheet import contact_sheet
from trainferry.train.data.tfrecord import RecordFile

pytest.importorskip("cv2")


def silent(_done: int, _total: int) -> None:
    pass


def test_the_files_hold_pictures_with_labels(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    report = render_words(
        WordsOptions(count=70, shard=40, processes=1),
        tmp_path,
        lambda done, total: calls.append((done, total)),
    )
    assert [path.name for path in report.files] == ["train_1.tfrecords", "train_2.tfrecords"]
    assert [len(RecordFile(path)) for path in report.files] == [40, 30]
    assert calls[-1] == (70, 70)
    example = parse_example(RecordFile(report.files[1])[0])
    (encoded,), (text,), (name,) = (
        example[key] for key in ("image/encoded", "image/text", "image/path")
    )
    assert isinstance(encoded, bytes)
    assert isinstance(text, bytes)
    assert isinstance(name, bytes)
    assert decode_picture(encoded).shape[2] == 3
    assert text.decode().isalnum()
    assert name.startswith(b"00000040_")
    assert b"." not in name
    facts = json.loads((tmp_path / "dataset.json").read_text(encoding="utf-8"))
    assert facts["options"]["seed"] == 0
    assert sum(facts["pictures_per_font"].values()) == 70


@pytest.mark.slow
def test_any_number_of_processes_writes_the_same_bytes(tmp_path: Path) -> None:
    for processes in (1, 2):
        options = WordsOptions(count=60, shard=20, processes=processes, seed=5, split="valid")
        render_words(options, tmp_path / str(processes), silent)
    for name in ("valid_1.tfrecords", "valid_2.tfrecords", "valid_3.tfrecords"):
        one, two = ((tmp_path / n / "tfrecords" / name).read_bytes() for n in "12")
        assert one == two


def test_own_fonts_and_words_are_used_and_the_unusable_are_told(tmp_path: Path) -> None:
    fonts = tmp_path / "fonts" / "deep"
    fonts.mkdir(parents=True)
    shutil.copy(bundled_fonts()[0].path, fonts / "mine.woff")
    (fonts / "broken.ttf").write_bytes(b"no font at all")
    words = tmp_path / "words.txt"
    words.write_text("Quay\nHarbour\n漢字\n", encoding="utf-8")
    report = render_words(
        WordsOptions(count=12, fonts=tmp_path / "fonts", words=words, processes=1), tmp_path, silent
    )
    assert report.fonts == 1
    assert [refusal.path.name for refusal in report.refused_fonts] == ["broken.ttf"]
    assert report.left_out_words["no font has its characters"] == 1
    records = RecordFile(report.files[0])
    labels = {parse_example(records[number])["image/text"][0] for number in range(12)}
    drawn = {label.lower().removesuffix(b"s") for label in labels if isinstance(label, bytes)}
    assert drawn <= {b"quay", b"harbour"}
    assert "broken.ttf" in report.summary()


def test_labels_of_lines_are_the_lines(tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("Mind the gap, please!\n(free) WiFi\n", encoding="utf-8")
    options = WordsOptions(count=12, words=lines, lines=True, processes=1)
    records = RecordFile(render_words(options, tmp_path, silent).files[0])
    labels = {parse_example(records[number])["image/text"][0] for number in range(12)}
    assert labels == {b"Mind the gap, please!", b"(free) WiFi"}


def test_lines_need_a_list_of_them(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no lines of text") as caught:
        render_words(WordsOptions(count=1, lines=True), tmp_path, silent)
    assert "--words" in str(caught.value.hint)


def test_every_font_of_a_collection_is_used(tmp_path: Path) -> None:
    files = tmp_path / "fonts"
    files.mkdir()
    mine, other = (font.path for font in bundled_fonts()[:2])
    make_collection([mine, other], files / "both.ttc")
    shutil.copy(bundled_fonts()[2].path, files / "alone.woff")
    (files / "many.ttc").write_bytes(b"ttcf" + bytes([0, 1, 0, 0]) + 4 * b"\xff")
    fonts, refused = find_fonts(files)
    used = [(font.name, font.face, font.weight) for font in fonts]
    assert used == [("alone.woff", 0, 1.0), ("both.ttc", 0, 0.5), ("both.ttc", 1, 0.5)]
    assert [refusal.reason for refusal in refused] == ["says that it holds 4,294,967,295 fonts"]
    for font, alone in zip(fonts[1:], (mine, other), strict=True):
        drawn, expected = (
            each.glyph("Q").mask for each in (Typeface(font.path, font.face), Typeface(alone))
        )
        assert np.array_equal(drawn, expected)
    report = render_words(WordsOptions(count=12, fonts=files, processes=1), tmp_path, silent)
    assert report.fonts == 3


def test_a_folder_without_fonts_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no usable font"):
        render_words(WordsOptions(count=1, fonts=tmp_path), tmp_path / "to", silent)


def test_a_missing_font_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no font folder"):
        render_words(WordsOptions(count=1, fonts=tmp_path / "none"), tmp_path / "to", silent)


def test_an_existing_data_set_is_not_mixed_with_a_new_one(tmp_path: Path) -> None:
    render_words(WordsOptions(count=2, processes=1), tmp_path, silent)
    with pytest.raises(DataError, match="already holds record files of"):
        render_words(WordsOptions(count=2, processes=1), tmp_path, silent)


def test_records_in_the_folder_itself_are_not_hidden_by_new_ones(tmp_path: Path) -> None:
    (tmp_path / "train.tfrecords").write_bytes(b"")
    with pytest.raises(DataError, match="already holds record files of"):
        render_words(WordsOptions(count=2, processes=1), tmp_path, silent)


def test_fonts_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"f\xff")
    folder.mkdir()
    font = bundled_fonts()[0].path
    shutil.copy(font, folder / os.fsdecode(b"\xfe" + font.suffix.encode()))
    options = WordsOptions(count=2, processes=1, fonts=folder)
    report = render_words(options, tmp_path / "to", silent)
    facts = json.loads((tmp_path / "to" / "dataset.json").read_text())
    assert facts["pictures_per_font"] == {f"\\xfe{font.suffix}": 2}
    assert len(RecordFile(report.files[0])) == 2


@pytest.mark.parametrize(
    "options",
    [WordsOptions(count=0), WordsOptions(count=1, seed=-1), WordsOptions(count=1, split="a/b")],
)
def test_impossible_options_are_refused(options: WordsOptions, tmp_path: Path) -> None:
    with pytest.raises(DataError):
        render_words(options, tmp_path, silent)


def test_the_check_sheet_shows_the_first_pictures(tmp_path: Path) -> None:
    write_check_sheet(WordsOptions(count=13), tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as page:
        assert page.size == (1400, 128)


def test_a_contact_sheet_takes_pictures_of_any_size(tmp_path: Path) -> None:
    pictures = [np.full((10, 50, 3), 200, np.uint8), np.full((40, 20, 3), 90, np.uint8)]
    contact_sheet(pictures, ["one", "two"], tmp_path / "page.png", columns=2)
    with Image.open(tmp_path / "page.png") as page:
        assert page.getpixel((5, 5)) == (200, 200, 200)


def test_the_page_has_the_letters_of_other_languages(tmp_path: Path) -> None:
    picture = np.zeros((32, 100, 3), np.uint8)
    captions = []
    for text in ("Ü", "ß"):
        contact_sheet([picture], [text], tmp_path / "page.png", columns=1)
        captions.append(Image.open(tmp_path / "page.png").tobytes())
    assert captions[0] != captions[1], "a letter that the font lacks is a box, whatever it is"
