"""Photographs in record files, their labels, and what of them can be used."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.train.data.samples import picture, saved
from tests.train.photo_data import draw_photo, make_photo_data
from trainferry.errors import DataError, RecordError
from trainferry.train.data.example import Scalar, build_example
from trainferry.train.data.photos.check import check_photos, require_enough
from trainferry.train.data.photos.classes import PhotoClass, write_classes
from trainferry.train.data.photos.records import (
    MISSING,
    NEGATIVE,
    UNREADABLE,
    PhotoRecords,
    find_photo_records,
    has_photo_records,
    holds_photos,
    read_classes,
)
from trainferry.train.data.pictures import decode_picture
from trainferry.train.data.tfrecord import RecordFile, write_records

FILES = Path(__file__).parent / "files" / "imagenet"


def photo(label: int | list[int] | None, **more: Scalar | list[Scalar]) -> bytes:
    features: dict[str, Scalar | list[Scalar]] = {"image/encoded": draw_photo(0, 3, 24)}
    if label is not None:
        features["image/class/label"] = label  # type: ignore[assignment]  # a list of numbers
    return build_example({**features, **more})


def open_labels(folder: Path, *labels: int | list[int] | None) -> PhotoRecords:
    path = folder / "train-00000-of-00001"
    write_records(path, [photo(label) for label in labels])
    return PhotoRecords([path])


def test_records_that_tensorflow_wrote_are_read(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FILES, tmp_path / "imagenet"))
    records = PhotoRecords(find_photo_records(folder, "val"))
    assert records.labels().tolist() == [1, 3, 2, 1, 2, 1, 3]
    assert read_classes(folder, records) == (
        "tench, Tinca tinca",
        "Shetland sheepdog",
        "café au lait",
    )
    samples = {records.sample(number).name: records.sample(number) for number in range(7)}
    for number in range(7):
        sample = samples[f"ILSVRC2012_val_{number + 1:08d}.JPEG"]
        decoded = decode_picture(sample.encoded)
        assert decoded.shape == (24 + number, 32, 3)
        assert abs(float(decoded[..., 0].mean()) - 30 * number) < 4
        assert sample.label == number % 3 + 1
    with_boxes = samples["ILSVRC2012_val_00000003.JPEG"]
    assert np.allclose(with_boxes.boxes, [(0.2, 0.1, 0.75, 0.5), (0.0, 0.0, 1.0, 1.0)])
    assert with_boxes.folder == "n07615774"
    assert sum(len(sample.boxes) for sample in samples.values()) == 2


def test_labels_are_read_without_the_checksums_of_pictures(tmp_path: Path) -> None:
    records = open_labels(tmp_path, 2, 1)
    path = records.paths[0]
    data = bytearray(path.read_bytes())
    data[data.index(b"\xff\xd8\xff") + 40] ^= 255
    path.write_bytes(data)
    records = PhotoRecords([path])
    assert records.labels().tolist() == [2, 1]
    with pytest.raises(RecordError, match="does not match its checksum"):
        records.sample(0)
    assert records.sample(1).label == 1


def test_the_order_of_features_does_not_matter_and_most_can_be_missing(tmp_path: Path) -> None:
    whole = photo(4, **{"image/class/text": "ship"})
    head = build_example({"image/class/label": 4, "image/class/text": "ship"})
    tail = build_example({"image/encoded": draw_photo(0, 3, 24)})
    path = tmp_path / "train-00000-of-00001"
    write_records(path, [whole, head + tail, tail + head])
    records = PhotoRecords([path])
    assert records.labels().tolist() == [4, 4, 4]
    assert [records.sample(n).text for n in range(3)] == ["ship"] * 3
    assert records.sample(2).name == "train-00000-of-00001:2"
    assert records.sample(2).boxes == ()


def test_labels_are_kept_beside_the_file_until_it_changes(tmp_path: Path) -> None:
    path = open_labels(tmp_path, 1, 2).paths[0]
    assert PhotoRecords([path]).labels().tolist() == [1, 2]
    beside = path.with_name(path.name + ".labels")
    kept = beside.read_bytes()

    beside.write_bytes(kept[:-1] + b"\x07")
    assert PhotoRecords([path]).labels().tolist() == [1, 2]
    assert beside.read_bytes() == kept

    write_records(path, [photo(3), photo(1)])
    os.utime(path, ns=(1, 1))
    assert PhotoRecords([path]).labels().tolist() == [3, 1]


def test_labels_need_no_writable_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train-00000-of-00001"
    write_records(path, [photo(1), photo(2)])

    def refuse(*_: object) -> int:
        raise PermissionError(13, "read-only")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert PhotoRecords([path]).labels().tolist() == [1, 2]
    assert list(tmp_path.iterdir()) == [path]


def test_labels_from_zero_are_raised_by_one(tmp_path: Path) -> None:
    records = open_labels(tmp_path, 0, 2, 1)
    assert records.first_label == 0
    assert records.labels().tolist() == [1, 3, 2]
    assert records.sample(1).label == 3
    assert "labels start at 0" in check_photos(records, 3).summary()
    assert read_classes(tmp_path, records) == ("class 1", "class 2", "class 3")


def test_a_split_too_small_to_tell_can_be_told_where_labels_start(tmp_path: Path) -> None:
    path = open_labels(tmp_path, 1, 2).paths[0]
    assert PhotoRecords([path], first_label=0).labels().tolist() == [2, 3]


def test_records_without_a_usable_label_say_so(tmp_path: Path) -> None:
    records = open_labels(tmp_path, 1, None, [], -3, 2**40)
    assert records.labels().tolist()[:4] == [1, MISSING, MISSING, NEGATIVE]
    for number, what in ((1, "no class label"), (2, "no class label"), (3, "class label -3")):
        with pytest.raises(RecordError, match=what):
            records.sample(number)
    with pytest.raises(DataError, match="which no set has"):
        read_classes(tmp_path, records)


def test_a_record_that_is_no_example_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "train-00000-of-00001"
    write_records(path, [photo(1), b"\x0a\x7fno example"])
    records = PhotoRecords([path])
    assert records.labels().tolist() == [1, UNREADABLE]
    check = check_photos(records, 1)
    assert check.dropped["damaged_record"] == 1


def test_workers_open_the_records_again(tmp_path: Path) -> None:
    records = PhotoRecords(find_photo_records(make_photo_data(tmp_path), "train"))
    again = pickle.loads(pickle.dumps(records))
    assert len(again) == len(records) == 24
    assert again.sample(5).encoded == records.sample(5).encoded
    assert np.array_equal(again.labels(), records.labels())


def test_records_of_tensorflow_datasets_are_read(tmp_path: Path) -> None:
    path = tmp_path / "cats-train.tfrecord-00000-of-00001"
    write_records(
        path,
        [
            build_example({"image": draw_photo(0, 3, 24), "label": n, "file_name": f"{n}.jpg"})
            for n in (1, 0)
        ],
    )
    records = PhotoRecords(find_photo_records(tmp_path, "train"))
    assert records.labels().tolist() == [2, 1]
    assert records.sample(0).name == "1.jpg"


def test_boxes_are_cut_to_the_picture_and_empty_ones_left_out(tmp_path: Path) -> None:
    sides = {"ymin": [-0.5, 0.2], "xmin": [0.1, 0.2], "ymax": [0.5, 0.2], "xmax": [1.5, 0.9]}
    features = {f"image/object/bbox/{side}": values for side, values in sides.items()}
    many = {key: values * 20 for key, values in features.items()}
    uneven = {**features, "image/object/bbox/ymin": [0.1]}
    path = tmp_path / "train-00000-of-00001"
    write_records(path, [photo(1, **one) for one in (features, many, uneven)])  # type: ignore[arg-type]  # lists of floats
    records = PhotoRecords([path])
    (box,) = records.sample(0).boxes
    assert np.allclose(box, (0.0, 0.1, 0.5, 1.0))
    assert len(records.sample(1).boxes) == 20
    with pytest.raises(RecordError, match="unequally many"):
        records.sample(2)


@pytest.mark.parametrize(
    ("names", "split"),
    [
        (["train-00000-of-00002", "train-00001-of-00002"], "train"),
        (["validation-00000-of-00001"], "val"),
        (["validation-00000-of-00001"], "validation"),
        (["val_2.tfrecords", "val_10.tfrecords"], "val"),
        (["flowers_train_00000-of-00001.tfrecord"], "train"),
        (["imagenet2012-validation.tfrecord-00000-of-00001"], "val"),
    ],
)
def test_files_are_found_whoever_named_them(tmp_path: Path, names: list[str], split: str) -> None:
    others = ["test-00000-of-00001", "train.skipped.tsv", "notes.txt", f"{names[0]}.index"]
    for name in (*names, *others):
        (tmp_path / name).touch()
    assert [path.name for path in find_photo_records(tmp_path, split)] == names
    assert has_photo_records(tmp_path, split)


def test_a_missing_shard_is_told(tmp_path: Path) -> None:
    for number in (0, 2):
        (tmp_path / f"train-{number:05d}-of-00004").touch()
    with pytest.raises(DataError, match=r"2 of the 4 `train` record files.*number 1, 3"):
        find_photo_records(tmp_path, "train")


def test_two_sets_in_one_folder_are_told(tmp_path: Path) -> None:
    for total in (1, 2):
        (tmp_path / f"train-00000-of-0000{total}").touch()
    with pytest.raises(DataError, match="several sets of `train` records, of 1, 2 files"):
        find_photo_records(tmp_path, "train")


def test_no_files_at_all_is_told_with_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "test-00000-of-00001").touch()
    with pytest.raises(DataError, match="found test-00000-of-00001"):
        find_photo_records(tmp_path, "train")
    with pytest.raises(DataError, match="no such folder"):
        find_photo_records(tmp_path / "gone", "train")


def test_words_are_not_taken_for_photographs(tmp_path: Path) -> None:
    words, photos = tmp_path / "words.tfrecords", tmp_path / "photos.tfrecords"
    write_records(words, [build_example({"image/encoded": b"x", "image/text": "word"})])
    write_records(photos, [b"\xff", photo(1)])
    assert not holds_photos(words)
    assert holds_photos(photos)


def test_the_check_counts_what_is_dropped_and_why(tmp_path: Path) -> None:
    path = tmp_path / "train-00000-of-00001"
    broken = build_example({"image/encoded": draw_photo(0, 3, 48)[:200], "image/class/label": 2})
    write_records(path, [photo(1), photo(9), photo(None), broken, photo(1), photo(2), photo(3)])
    data = bytearray(path.read_bytes())
    offset = int(RecordFile(path).offsets[5])
    data[offset + 400] ^= 255
    path.write_bytes(bytes(data) + b"torn")

    records = PhotoRecords([path])
    labels = check_photos(records, ("ship", "buoy", "gull", "crab"))
    assert labels.kept.tolist() == [0, 3, 4, 5, 6]
    assert labels.dropped["label_out_of_range"] == labels.dropped["missing_label"] == 1
    assert labels.dropped["damaged_record"] == 1

    check = check_photos(records, ("ship", "buoy", "gull", "crab"), pictures=True)
    assert check.kept.tolist() == [0, 4, 6]
    assert check.dropped == {
        "label_out_of_range": 1,
        "missing_label": 1,
        "damaged_record": 2,
        "unreadable_picture": 1,
    }
    assert check.per_class.tolist() == [2, 0, 1, 0]
    shown = check.summary()
    assert "kept 3 of 8 records" in shown
    assert "train-00000-of-00001:1  the class label is 9; there are 4 classes" in shown
    assert "no picture of 2 classes: buoy, crab" in shown
    assert check.to_json()["classes"][0] == {"label": 1, "name": "ship", "pictures": 2}
    with pytest.raises(DataError, match="only 3 of 8 records"):
        require_enough(check, 0.5)
    require_enough(check, 0.3)


def test_uneven_classes_are_told_shortly(tmp_path: Path) -> None:
    check = check_photos(open_labels(tmp_path, 1, 2, 2, 2, 2, 2), ("rare", "frequent"))
    shown = check.summary()
    assert "from 1 picture (rare) to 5 (frequent)" in shown
    assert "5.0 times" in shown


def test_an_empty_set_is_no_set(tmp_path: Path) -> None:
    records = open_labels(tmp_path)
    assert read_classes(tmp_path, records) == ()
    with pytest.raises(DataError, match="hold no records"):
        require_enough(check_photos(records, 3), 0.5)


def test_pictures_of_any_kind_in_a_record_pass_the_check(tmp_path: Path) -> None:
    from PIL import Image

    image = Image.fromarray(picture())
    path = tmp_path / "train_1.tfrecords"
    write_records(
        path,
        [
            build_example({"image/encoded": data, "image/class/label": 1})
            for data in (saved(image, "PNG"), saved(image.convert("CMYK"), "JPEG"))
        ],
    )
    assert len(check_photos(PhotoRecords([path]), 1, pictures=True).kept) == 2


def test_class_names_come_from_classes_json(tmp_path: Path) -> None:
    records = open_labels(tmp_path, 1, 2)
    write_classes(tmp_path, [PhotoClass("ship", "a"), PhotoClass("été", "b")])
    assert read_classes(tmp_path, records) == ("ship", "été")
    write_classes(tmp_path, [PhotoClass("ship", "a"), PhotoClass("été", "b")])
    with pytest.raises(DataError, match="label 2 is 'été'"):
        write_classes(tmp_path, [PhotoClass("ship", "a"), PhotoClass("gull", "b")])


@pytest.mark.parametrize("text", ["", "[]", '{"classes": []}', '{"classes": [{"folder": "a"}]}'])
def test_a_broken_classes_json_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "classes.json").write_text(text)
    with pytest.raises(DataError, match=r"classes\.json"):
        read_classes(tmp_path, open_labels(tmp_path, 1))
