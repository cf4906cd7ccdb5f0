"""A folder of views becomes FSNS records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trainferry.errors import DataError
from trainferry.train.data.pictures import Picture, encode_jpeg, encode_png
from trainferry.train.data.signs.charset import fsns_charset, read_charset
from trainferry.train.data.signs.fsns import FsnsOptions, join_views, pack_fsns
from trainferry.train.data.signs.records import SignRecords, find_signs
from trainferry.train.data.signs.views import noise


def plain(height: int, width: int, value: int) -> Picture:
    return np.full((height, width, 3), value, np.uint8)


def read(folder: Path, split: str = "train") -> SignRecords:
    return SignRecords(find_signs(folder, split), read_charset(folder))


def test_strips_are_kept_as_they_are(tmp_path: Path) -> None:
    strip = plain(150, 600, 90)
    strip[:, 300:] = noise(150, 300, np.random.default_rng(0))
    (tmp_path / "a.png").write_bytes(encode_png(strip))
    (tmp_path / "b.jpg").write_bytes(encode_jpeg(plain(150, 600, 60), 90))
    (tmp_path / "gt.tsv").write_text("a.png\tRue d'Orbey\nb.jpg\tQuai\n", encoding="utf-8")
    report = pack_fsns(tmp_path, tmp_path / "out", FsnsOptions())
    assert report.written == 2
    assert dict(report.views) == {2: 1, 4: 1}
    assert "wrote 2 signs" in report.summary()
    signs = read(tmp_path / "out")
    first = signs.sample(0)
    assert (first.picture == strip).all()
    assert first.text == "Rue d\u2018Orbey"
    assert first.present == 2
    assert signs.sample(1).present == 4


def test_one_picture_for_each_view_is_joined_and_the_rest_is_noise(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    for name, value in (("1", 50), ("2", 100), ("3", 200)):
        (tmp_path / "v" / f"{name}.png").write_bytes(encode_png(plain(300, 300, value)))
    (tmp_path / "gt.tsv").write_text(
        "v/1.png|v/2.png|v/3.png\tRue Un\nv/1.png\tRue Deux\n", encoding="utf-8"
    )
    pack_fsns(tmp_path, tmp_path / "out", FsnsOptions(split="val"))
    signs = read(tmp_path / "out", "val")
    first, second = signs.sample(0), signs.sample(1)
    assert [int(first.picture[75, column].mean()) for column in (75, 225, 375)] == [50, 100, 200]
    assert first.picture[:, 450:].std() > 70
    assert (first.present, second.present) == (3, 1)
    assert second.picture[:, 150:].std() > 70


def test_a_view_that_is_not_square_stands_in_noise() -> None:
    picture = join_views([plain(100, 200, 80)], seed=1)
    assert picture.shape == (150, 600, 3)
    assert (picture[40:110, 0:150] == 80).all()
    assert picture[:30, :150].std() > 60
    assert (picture == join_views([plain(100, 200, 80)], seed=1)).all()


def test_what_cannot_be_packed_is_listed_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "good.png").write_bytes(encode_png(plain(150, 600, 90)))
    (tmp_path / "five.png").write_bytes(encode_png(plain(150, 750, 90)))
    (tmp_path / "cut.png").write_bytes(encode_png(noise(150, 600, np.random.default_rng(0)))[:999])
    lines = (
        "good.png\tRue",
        "five.png\tRue",
        "cut.png\tRue",
        "none.png\tRue",
        "../gt.tsv\tRue",
        "good.png\t" + "a" * 38,
        "good.png\tRue ž",
        "good.png",
        "good.png\t  ",
        "a|b|c|d|e\tRue",
        "\tRue",
        "good.png|\tRue",
    )
    (tmp_path / "gt.tsv").write_text("\n".join(lines), encoding="utf-8")
    report = pack_fsns(tmp_path, tmp_path / "out", FsnsOptions())
    assert report.written == 1
    assert report.reasons() == {
        "wrong size": 1,
        "unreadable picture": 1,
        "picture cannot be read": 1,
        "path outside the folder": 1,
        "too long": 1,
        "unknown character": 1,
        "no text": 2,
        "no file": 2,
        "too many views": 1,
    }
    listed = (tmp_path / "out" / "tfrecords" / "train_1.skipped.tsv").read_text(encoding="utf-8")
    assert "five.png\twrong size: 750 x 150" in listed
    assert report.to_json()["skipped"] == 11


def test_nothing_packed_is_an_error_and_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "gt.tsv").write_text("none.png\tRue\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"not one sign could be packed; none\.png"):
        pack_fsns(tmp_path, tmp_path / "out", FsnsOptions())
    assert not list((tmp_path / "out").rglob("*.tfrecords"))


def test_the_list_must_be_there_and_hold_something(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read .*gt\.tsv"):
        pack_fsns(tmp_path, tmp_path / "out", FsnsOptions())
    (tmp_path / "gt.tsv").write_text("\n\n", encoding="utf-8")
    with pytest.raises(DataError, match="is empty"):
        pack_fsns(tmp_path, tmp_path / "out", FsnsOptions())
    (tmp_path / "gt.tsv").write_bytes(b"a.png\t\xff\n")
    with pytest.raises(DataError, match="not UTF-8"):
        pack_fsns(tmp_path, tmp_path / "out", FsnsOptions())


def test_records_of_a_split_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(encode_png(plain(150, 600, 90)))
    (tmp_path / "gt.tsv").write_text("a.png\tRue\n", encoding="utf-8")
    pack_fsns(tmp_path, tmp_path / "out", FsnsOptions())
    with pytest.raises(DataError, match="already holds"):
        pack_fsns(tmp_path, tmp_path / "out", FsnsOptions())
    with pytest.raises(DataError, match="cannot name a split"):
        pack_fsns(tmp_path, tmp_path / "out", FsnsOptions(split="a/b"))


def test_the_32_real_pictures_go_all_the_way(shared: Path, tmp_path: Path) -> None:
    source = shared / "data" / "fsns_testdata" / "png"
    lines = (source / "gt.tsv").read_text(encoding="utf-8").splitlines()
    texts = [line.split("\t")[1] for line in lines]
    report = pack_fsns(source, tmp_path / "out", FsnsOptions(split="test"))
    assert report.written == 32
    assert dict(report.views) == {4: 26, 3: 1, 2: 3, 1: 2}
    signs = read(tmp_path / "out", "test")
    assert [signs.text(number) for number in range(32)] == texts
    assert fsns_charset() == signs.charset


def test_any_number_of_views_of_any_size_and_longer_texts_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "strip.png").write_bytes(encode_png(plain(80, 480, 90)))
    (tmp_path / "view.png").write_bytes(encode_png(plain(40, 40, 200)))
    (tmp_path / "gt.tsv").write_text(
        f"strip.png\t{'a' * 38}\n{'|'.join(['view.png'] * 5)}\tRue\n", encoding="utf-8"
    )
    options = FsnsOptions(views=6, side=80, longest=40)
    report = pack_fsns(tmp_path, tmp_path / "out", options)
    assert dict(report.views) == {6: 1, 5: 1}
    paths = find_signs(tmp_path / "out", "train")
    charset = read_charset(tmp_path / "out")
    signs = SignRecords(paths, charset, views=6, height=80, view_width=80, length=40)
    first, second = signs.sample(0), signs.sample(1)
    assert (first.text, first.present) == ("a" * 38, 6)
    assert first.codes.shape == (40,)
    assert second.present == 5
    assert (second.picture[:, :400] == 200).all()
    assert second.picture[:, 400:].std() > 60


def test_a_wide_photograph_can_be_the_only_view(tmp_path: Path) -> None:
    (tmp_path / "wide.png").write_bytes(encode_png(plain(100, 300, 200)))
    (tmp_path / "gt.tsv").write_text("wide.png\tRue\n", encoding="utf-8")
    pack_fsns(tmp_path, tmp_path / "out", FsnsOptions(views=1))
    paths = find_signs(tmp_path / "out", "train")
    sign = SignRecords(paths, read_charset(tmp_path / "out"), views=1).sample(0)
    assert (sign.picture[60:90] == 200).all()
    assert sign.present == 1
