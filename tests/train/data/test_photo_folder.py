"""Class-per-folder trees into records, and records back into such trees."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.train.data.samples import picture, saved
from tests.train.photo_data import draw_photo
from trainferry.errors import DataError, UsageError
from trainferry.train.data.example import build_example
from trainferry.train.data.photos import folder as photo_folder
from trainferry.train.data.photos.folder import PhotoFolderOptions, pack_photo_folder
from trainferry.train.data.photos.records import PhotoRecords, find_photo_records, read_classes
from trainferry.train.data.photos.report import PhotoReport
from trainferry.train.data.photos.unpack import unpack_photos
from trainferry.train.data.pictures import decode_picture
from trainferry.train.data.tfrecord import write_records


def make_classes(root: Path, *names: str, each: int = 4) -> Path:
    for number, name in enumerate(names):
        (root / name).mkdir(parents=True)
        for picture_number in range(each):
            data = draw_photo(number, len(names), 24, picture_number)
            (root / name / f"{picture_number}.jpg").write_bytes(data)
    return root


def pack(source: Path, to: Path, **options: object) -> PhotoReport:
    return pack_photo_folder(source, to, PhotoFolderOptions(**options))  # type: ignore[arg-type]  # by name


def open_split(folder: Path, split: str) -> PhotoRecords:
    return PhotoRecords(find_photo_records(folder, split))


def test_labels_follow_the_natural_order_of_the_folders(tmp_path: Path) -> None:
    source = make_classes(tmp_path / "source", "grade 10", "grade 2", "été")
    report = pack(source, tmp_path / "out")
    assert report.written == {"train": 12}
    records = open_split(tmp_path / "out", "train")
    assert read_classes(tmp_path / "out", records) == ("grade 2", "grade 10", "été")
    kept = json.loads((tmp_path / "out" / "classes.json").read_text("utf-8"))
    assert kept["classes"][0] == {"name": "grade 2", "folder": "grade 2"}
    for number in range(12):
        sample = records.sample(number)
        assert sample.folder == ("grade 2", "grade 10", "été")[sample.label - 1] == sample.text
        assert sample.encoded == (source / sample.folder / sample.name).read_bytes()


def test_a_class_whose_name_is_no_utf8_is_refused(tmp_path: Path) -> None:
    source = make_classes(tmp_path / "source", "a", os.fsdecode(b"\xfcbung"))
    with pytest.raises(DataError, match="is not UTF-8"):
        pack(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_train_and_val_folders_become_two_splits(tmp_path: Path) -> None:
    make_classes(tmp_path / "source" / "train", "a", "b", "c")
    make_classes(tmp_path / "source" / "val", "a", "c", each=2)
    report = pack(tmp_path / "source", tmp_path / "out")
    assert report.written == {"train": 12, "validation": 4}
    assert sorted(open_split(tmp_path / "out", "val").labels().tolist()) == [1, 1, 3, 3]


def test_validation_folders_that_training_lacks_are_listed(tmp_path: Path) -> None:
    make_classes(tmp_path / "source" / "train", "a", "b")
    make_classes(tmp_path / "source" / "valid", "a", "B", "d")
    with pytest.raises(DataError, match="classes that the training set has not: `B`, `d`"):
        pack(tmp_path / "source", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_share_of_each_class_is_split_off_always_the_same(tmp_path: Path) -> None:
    source = make_classes(tmp_path / "source", "a", "b", each=10)
    make_classes(source, "rare", each=1)
    for name in ("one", "two"):
        report = pack(source, tmp_path / name, validation=0.2)
        assert report.written == {"train": 17, "validation": 4}
    one, two = (open_split(tmp_path / name, "val") for name in ("one", "two"))
    assert sorted(one.labels().tolist()) == [1, 1, 2, 2]
    assert [one.sample(n).encoded for n in range(4)] == [two.sample(n).encoded for n in range(4)]
    train = open_split(tmp_path / "one", "train")
    seen = {bytes(train.sample(n).encoded) for n in range(17)}
    assert not seen & {bytes(one.sample(n).encoded) for n in range(4)}


def test_a_share_is_not_split_off_where_validation_is_there(tmp_path: Path) -> None:
    make_classes(tmp_path / "source" / "train", "a", "b")
    make_classes(tmp_path / "source" / "val", "a", "b")
    with pytest.raises(UsageError, match="is there already"):
        pack(tmp_path / "source", tmp_path / "out", validation=0.1)


def test_a_share_is_taken_from_training_alone(tmp_path: Path) -> None:
    make_classes(tmp_path / "source" / "train", "a", "b")
    make_classes(tmp_path / "source" / "test", "a", "b", each=1)
    report = pack(tmp_path / "source", tmp_path / "out", validation=0.25)
    assert report.written == {"train": 6, "validation": 2, "test": 2}
    with pytest.raises(UsageError, match="not from `val`"):
        pack(tmp_path / "source" / "train", tmp_path / "out", split="val", validation=0.25)


def test_a_split_cannot_lead_elsewhere(tmp_path: Path) -> None:
    source = make_classes(tmp_path / "source", "a", "b")
    with pytest.raises(UsageError, match="cannot name a split"):
        pack(source, tmp_path / "out", split="../train")


def test_a_second_split_keeps_the_labels_of_the_first(tmp_path: Path) -> None:
    pack(make_classes(tmp_path / "one", "a", "b", "c"), tmp_path / "out")
    pack(make_classes(tmp_path / "two", "c", "b"), tmp_path / "out", split="val")
    assert sorted(set(open_split(tmp_path / "out", "val").labels().tolist())) == [2, 3]
    with pytest.raises(DataError, match="classes that the training set has not: `z`"):
        pack(make_classes(tmp_path / "three", "a", "z"), tmp_path / "out", split="test")
    with pytest.raises(DataError, match="already holds `train` records"):
        pack(make_classes(tmp_path / "four", "x", "y"), tmp_path / "out")


def test_wnids_are_named_from_a_file(tmp_path: Path) -> None:
    source = make_classes(tmp_path / "source", "n01440764", "n02102040")
    names = tmp_path / "names.txt"
    names.write_text("n02102040 English springer\nn01440764\ttench\n")
    pack(source, tmp_path / "out", names=names)
    records = open_split(tmp_path / "out", "train")
    assert read_classes(tmp_path / "out", records) == ("tench", "English springer")
    names.write_text("cat a\ndog b\n")
    with pytest.raises(DataError, match="names none of the folders"):
        pack(source, tmp_path / "again", names=names)


def test_what_is_no_picture_is_counted(tmp_path: Path) -> None:
    source = make_classes(tmp_path / "source", "a", "b")
    (source / "a" / "notes.txt").write_text("note")
    (source / "a" / "inner").mkdir()
    (source / "empty").mkdir()
    (source / ".cache").mkdir()
    (source / "b" / "bad.png").write_bytes(b"no picture")
    (source / "b" / "good.png").write_bytes(saved(Image.fromarray(picture()), "PNG"))
    shown = pack(source, tmp_path / "out").summary()
    assert "wrote 9 train photographs to 1 record file" in shown
    assert "classes: 2" in shown
    assert "left out 1 folder without pictures: empty" in shown
    assert "1 .txt file" in shown
    assert "1 folder" in shown
    assert "written again as RGB JPEG: 1 PNG" in shown
    assert "b/bad.png  unreadable picture" in shown


def test_pictures_in_an_inner_folder_called_images_are_found(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_classes(tmp_path / "source" / name, "images")
    assert pack(tmp_path / "source", tmp_path / "out").written == {"train": 8}


def test_what_a_mac_adds_to_an_archive_is_no_class(tmp_path: Path) -> None:
    source = make_classes(tmp_path / "source", "a", "b")
    make_classes(source / "__MACOSX", "a", "b")
    assert pack(source, tmp_path / "out").written == {"train": 8}


def test_a_linked_picture_is_packed(tmp_path: Path) -> None:
    source = make_classes(tmp_path / "source", "a", "b")
    (source / "a" / "link.jpg").symlink_to(make_classes(tmp_path / "far", "x") / "x" / "0.jpg")
    assert pack(source, tmp_path / "out").written == {"train": 9}


@pytest.mark.parametrize(
    ("folders", "error"),
    [
        (("data/a", "data/b"), "has folders, such as `a`, where pictures should be"),
        (("a",), "pictures of one class only: `a`"),
        ((), "no class folders with pictures"),
    ],
)
def test_a_tree_of_another_shape_is_told(
    tmp_path: Path, folders: tuple[str, ...], error: str
) -> None:
    (tmp_path / "source").mkdir()
    make_classes(tmp_path / "source", *folders)
    with pytest.raises(DataError, match=error):
        pack(tmp_path / "source", tmp_path / "out")


def test_a_class_may_be_called_train(tmp_path: Path) -> None:
    pack(make_classes(tmp_path / "source", "plane", "train"), tmp_path / "out")
    records = open_split(tmp_path / "out", "train")
    assert read_classes(tmp_path / "out", records) == ("plane", "train")


def test_files_have_a_handy_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = make_classes(tmp_path / "source", "a", "b", each=6)
    size = sum(path.stat().st_size for path in source.glob("*/*"))
    monkeypatch.setattr(photo_folder, "SHARD_BYTES", size / 3)
    report = pack(source, tmp_path / "out")
    assert [path.name for path in report.files] == [f"train-0000{n}-of-00003" for n in range(3)]


def test_only_photographs_with_a_longer_short_side_are_made_smaller(tmp_path: Path) -> None:
    source = make_classes(tmp_path / "source", "a", "b", each=1)
    exif = Image.Exif()
    exif[0x0112] = 6  # held upright; whoever reads the record sees it lying, as without the option
    stored = picture(3, 150, 201)
    files = {
        "a/large.jpg": saved(Image.fromarray(stored), "JPEG", quality=95, exif=exif),
        "a/large.png": saved(Image.fromarray(stored), "PNG"),
        "a/long.jpg": saved(Image.fromarray(picture(4, 48, 900)), "JPEG"),
        "b/small.png": saved(Image.fromarray(picture(5, 20, 30)), "PNG"),
    }
    for name, data in files.items():
        (source / name).write_bytes(data)
    report = pack(source, tmp_path / "out", short_side=48)
    assert Counter(kind for _, kind in report.rewritten) == {
        "JPEG made smaller": 1,
        "PNG made smaller": 1,
        "PNG": 1,
    }
    assert "short side: 48 at most; JPEG quality 92 if larger" in report.summary()
    assert "1 JPEG made smaller" in report.summary()
    records = open_split(tmp_path / "out", "train")
    found = {sample.name: sample for sample in map(records.sample, range(len(records)))}
    assert bytes(found["long.jpg"].encoded) == files["a/long.jpg"]
    expected = Image.fromarray(stored).resize((64, 48), Image.Resampling.BILINEAR)
    for name in ("large.jpg", "large.png"):
        seen = decode_picture(found[name].encoded).astype(int)
        assert seen.shape == (48, 64, 3)
        assert np.abs(seen - np.array(expected)).mean() < 3
    assert decode_picture(found["small.png"].encoded).shape == (20, 30, 3)


def test_records_of_another_short_side_are_not_mixed(tmp_path: Path) -> None:
    source = make_classes(tmp_path / "source", "a", "b")
    pack(source, tmp_path / "out", short_side=16)
    again = pack(source, tmp_path / "out", short_side=16)
    assert again.kept_files == 1
    assert len(again.rewritten) == 8
    for other in (0, 20):
        with pytest.raises(DataError, match="other data or options"):
            pack(source, tmp_path / "out", short_side=other)


def test_records_unpack_into_the_tree_they_came_from(tmp_path: Path) -> None:
    source = make_classes(tmp_path / "source", "grade 2", "grade_10", each=3)
    names = tmp_path / "names.txt"
    names.write_text("grade 2\tsecond\ngrade_10\ttenth\n")
    pack(source, tmp_path / "out", names=names)
    report = unpack_photos({"": find_photo_records(tmp_path / "out", "train")}, tmp_path / "back")
    assert "wrote 6 pictures of 2 classes" in report.summary()
    for path in source.glob("*/*"):
        place = tmp_path / "back" / path.parent.name.replace(" ", "_") / path.name
        assert place.read_bytes() == path.read_bytes()
    assert (tmp_path / "back" / "names.tsv").read_text() == "grade_2\tsecond\ngrade_10\ttenth\n"
    with pytest.raises(DataError, match="not empty"):
        unpack_photos({}, tmp_path / "back")


def test_pictures_of_any_format_unpack_into_a_folder_that_is_there(tmp_path: Path) -> None:
    drawn = Image.fromarray(picture(1, 16, 16))
    kinds = {"JPEG": ".jpg", "PNG": ".png", "BMP": ".bmp", "GIF": ".gif"}
    kinds |= {"WEBP": ".webp", "TIFF": ".tif"}
    encoded = [saved(drawn, kind) for kind in kinds]
    path = tmp_path / "train-00000-of-00001"
    write_records(
        path,
        [
            build_example({"image/encoded": data, "image/class/label": 1, "image/filename": "a"})
            for data in encoded
        ],
    )
    folder = tmp_path / "back"
    folder.mkdir()
    before = folder.stat().st_ino
    unpack_photos({"": [path]}, folder)
    assert folder.stat().st_ino == before
    for data, suffix in zip(encoded, kinds.values(), strict=True):
        assert (folder / "1" / f"a{suffix}").read_bytes() == data


def test_unpacking_writes_nowhere_else(tmp_path: Path) -> None:
    path = tmp_path / "train-00000-of-00001"
    records = [
        build_example(
            {
                "image/encoded": draw_photo(0, 3, 24, number),
                "image/class/label": label,
                "image/class/synset": folder,
                "image/filename": name,
            }
        )
        for number, (label, folder, name) in enumerate(
            [
                (1, "../../etc", "../../../passwd"),
                (2, "/etc", "/passwd.jpg"),
                (3, "..", "a.jpg"),
                (3, "..", "a.jpg"),
                (4, "", "con\0trol\n.jpeg"),
            ]
        )
    ]
    write_records(path, [*records, b"", build_example({"image/class/label": 1})])
    report = unpack_photos({"": [path]}, tmp_path / "back")
    assert (report.written, len(report.skipped)) == (5, 2)
    files = [one for one in (tmp_path / "back").rglob("*") if one.is_file()]
    assert len(files) == 6
    assert {one.name for one in tmp_path.iterdir() if not one.name.startswith(path.name)} == {
        "back"
    }
    assert all(len(one.relative_to(tmp_path / "back").parts) <= 2 for one in files)
