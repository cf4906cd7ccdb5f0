"""Data sets of rendered signs: the same for any number of processes, split without overlap."""

from __future__ import annotations

import csv
import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from trainferry.errors import DataError
from trainferry.train.data.render.signs.fonts import plate_fonts, split_fonts
from trainferry.train.data.render.signs.make import (
    SignsOptions,
    render_samples,
    render_signs,
    write_check_sheet,
)
from trainferry.train.data.render.words.fonts import Font, bundled_fonts, open_typeface
from trainferry.train.data.signs.charset import read_charset
from trainferry.train.data.signs.records import SignRecords, find_signs

pytest.importorskip("cv2")


def silent(_done: int, _total: int) -> None:
    pass


def test_the_records_hold_views_and_texts_that_the_charset_beside_them_reads(
    tmp_path: Path,
) -> None:
    calls: list[tuple[int, int]] = []
    report = render_signs(
        SignsOptions(count=9, shard=6), tmp_path, lambda done, total: calls.append((done, total))
    )
    assert [path.name for path in report.files] == ["train_1.tfrecords", "train_2.tfrecords"]
    assert calls == [(6, 9), (9, 9)]
    assert "9 signs in 2 files" in report.summary()
    charset = read_charset(tmp_path)
    signs = SignRecords(find_signs(tmp_path, "train"), charset)
    assert len(signs) == 9
    for number in range(9):
        sample = signs.sample(number)
        assert sample.picture.shape == (150, 600, 3)
        assert 1 <= sample.present <= 4
        assert charset.decode(sample.codes) == sample.text
        assert sample.text[0].isupper()
    facts = json.loads((tmp_path / "dataset.json").read_text(encoding="utf-8"))
    assert facts["options"]["seed"] == 0
    assert sum(facts["signs_per_font"].values()) == 9


@pytest.mark.slow
def test_any_number_of_processes_writes_the_same_bytes(tmp_path: Path) -> None:
    for processes in (1, 2):
        options = SignsOptions(count=9, shard=3, processes=processes, seed=5, split="val")
        render_signs(options, tmp_path / str(processes), silent)
    for name in ("val_1.tfrecords", "val_2.tfrecords", "val_3.tfrecords"):
        one, two = ((tmp_path / n / "tfrecords" / name).read_bytes() for n in "12")
        assert one == two


def test_views_that_are_not_there_are_noise() -> None:
    samples = render_samples(SignsOptions(count=40, seed=2))
    missing = [sample for sample in samples if sample.present < 4]
    assert missing
    for sample in missing:
        values = sample.picture[:, sample.present * 150 :].astype(float)
        assert abs(values.mean() - 127.5) < 3
        assert abs(values.std() - 73.9) < 2
    assert len({sample.text for sample in samples}) > 35


def test_other_seeds_and_splits_give_other_signs() -> None:
    first, second, third = (
        render_samples(options)[0]
        for options in (
            SignsOptions(count=1),
            SignsOptions(count=1, seed=1),
            SignsOptions(count=1, split="val"),
        )
    )
    assert not (first.picture == second.picture).all()
    assert not (first.picture == third.picture).all()


def test_pictures_are_jpeg_or_without_loss(tmp_path: Path) -> None:
    options = SignsOptions(count=2, png=True)
    render_signs(options, tmp_path, silent)
    signs = SignRecords(find_signs(tmp_path, "train"), read_charset(tmp_path))
    for number, sample in enumerate(render_samples(options)):
        assert (signs.sample(number).picture == sample.picture).all()


def test_fonts_of_train_occur_in_no_other_split() -> None:
    train, val, test = (plate_fonts(split) for split in ("train", "val", "test"))
    families = {font.name.split("-latin")[0] for font in train}
    assert not families & {font.name.split("-latin")[0] for font in val}
    assert val == test
    assert len(train) > 200
    assert len({font.name for font in train}) == len(train)
    for font in train + val:
        assert open_typeface(font.path).draws("RUEÉÈÊÇÔÎabcéèêçôîûà0123456789'\u2019-"), font.name


def test_every_font_of_the_signs_is_used_and_has_its_licence_told() -> None:
    used = {font.path for split in ("train", "val") for font in plate_fonts(split)}
    bundled = {font.path for font in bundled_fonts()}
    (folder,) = {path.parent for path in used - bundled}
    assert set(folder.glob("*.woff")) == used - bundled
    copyrights = (folder / "LICENSES" / "COPYRIGHTS.txt").read_text(encoding="utf-8")
    with (folder / "fonts.tsv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    assert {row["file"] for row in rows} == {path.name for path in folder.glob("*.woff")}
    for row in rows:
        assert f"{row['family']} ({row['licence']})\n  " in copyrights
        assert (folder / "LICENSES" / f"{row['licence']}.txt").is_file()


def test_one_of_five_own_fonts_is_held_out() -> None:
    fonts = [Font(f"font{number}", Path(f"{number}.ttf"), "user", 1.0) for number in range(10)]
    train, val = split_fonts(fonts, "train"), split_fonts(fonts, "val")
    assert (len(train), len(val)) == (8, 2)
    assert not {font.name for font in train} & {font.name for font in val}
    assert split_fonts(fonts[:1], "train") == split_fonts(fonts[:1], "val") == fonts[:1]


def test_the_faces_of_a_file_are_held_out_together() -> None:
    fonts = [
        Font(f"{file}.ttc", Path(f"{file}.ttc"), "user", 0.5, face)
        for file in "ab"
        for face in (0, 1)
    ]
    train, val = split_fonts(fonts, "train"), split_fonts(fonts, "val")
    assert sorted(len({font.name for font in part}) for part in (train, val)) == [1, 1]
    assert sorted([*train, *val], key=lambda font: (font.name, font.face)) == fonts
    assert split_fonts(fonts[:2], "train") == split_fonts(fonts[:2], "val") == fonts[:2]


def test_own_fonts_and_names_are_used_and_the_unusable_told(tmp_path: Path) -> None:
    fonts = tmp_path / "fonts"
    fonts.mkdir()
    shutil.copy(bundled_fonts()[14].path, fonts / "mine.woff")
    (fonts / "broken.ttf").write_bytes(b"no font at all")
    names = tmp_path / "names.txt"
    known = [f"Quai Numéro {number}" for number in range(30)]
    names.write_text("\n".join([*known, "Rue 漢字"]), encoding="utf-8")
    report = render_signs(SignsOptions(count=3, fonts=fonts, names=names), tmp_path, silent)
    assert report.fonts == 1
    assert report.left_out_names["unknown character"] == 1
    assert "font not used" in report.summary()
    signs = SignRecords(report.files, read_charset(tmp_path))
    assert {signs.text(number) for number in range(3)} <= set(known)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (SignsOptions(count=0), "cannot render 0 signs"),
        (SignsOptions(count=1, seed=-1), "negative"),
        (SignsOptions(count=1, split="training"), "no split `training`"),
        (SignsOptions(count=1, fonts=Path("nowhere")), "no font folder"),
        (SignsOptions(count=1, names=Path("nowhere")), "cannot read"),
    ],
)
def test_what_cannot_be_rendered_is_told(tmp_path: Path, options: SignsOptions, why: str) -> None:
    with pytest.raises(DataError, match=why) as caught:
        render_signs(options, tmp_path, silent)
    assert caught.value.hint


def test_records_of_a_split_are_not_written_over(tmp_path: Path) -> None:
    render_signs(SignsOptions(count=1), tmp_path, silent)
    with pytest.raises(DataError, match="already holds"):
        render_signs(SignsOptions(count=1), tmp_path, silent)
    render_signs(SignsOptions(count=1, split="val"), tmp_path, silent)
    assert (tmp_path / "dataset_val.json").is_file()


def test_a_sheet_shows_the_first_signs(tmp_path: Path) -> None:
    write_check_sheet(SignsOptions(count=3), tmp_path / "deep" / "sheet.png")
    with Image.open(tmp_path / "deep" / "sheet.png") as page:
        assert page.size == (2 * 608, 2 * 167)
        assert np.asarray(page).std() > 20


def test_a_sheet_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="no space left while writing"):
        write_check_sheet(SignsOptions(count=1), tmp_path / "sheet.png")
    assert list(tmp_path.iterdir()) == []
