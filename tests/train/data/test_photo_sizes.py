"""Photographs that are much larger than needed are told, with what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.train.data.samples import picture
from tests.train.photo_data import make_photo_data, photo_record
from trainferry.train.data.example import build_example, parse_example
from trainferry.train.data.photos.records import PhotoRecords, find_photo_records
from trainferry.train.data.photos.sizes import describe_large, find_short_side
from trainferry.train.data.pictures import encode_png
from trainferry.train.data.tfrecord import write_records
from trainferry.train.recipe.tasks import PhotoPicture


def test_the_short_side_is_the_median_of_the_headers(tmp_path: Path) -> None:
    records = PhotoRecords(find_photo_records(make_photo_data(tmp_path, size=60), "train"))
    assert find_short_side(records, np.arange(len(records))) == 60
    assert find_short_side(records, np.empty(0, np.int64)) == 0


def test_what_says_no_size_is_passed_over(tmp_path: Path) -> None:
    features = parse_example(photo_record(0, 2, size=40))
    features["image/encoded"] = [encode_png(picture())]
    no_picture = {name: value for name, value in features.items() if name != "image/encoded"}
    write_records(
        tmp_path / "train-00000-of-00001",
        [build_example(features), photo_record(0, 2, size=40), build_example(no_picture)],
    )
    records = PhotoRecords(find_photo_records(tmp_path, "train"))
    assert find_short_side(records, np.arange(3)) == 40
    assert find_short_side(records, np.array([0])) == 0


def test_much_larger_photographs_are_told_with_what_to_do() -> None:
    told = describe_large(3000, PhotoPicture())
    assert told.count("\n") == 0
    assert "a short side of 3,000 or more, and the network sees 224" in told
    assert "`trainferry data folder --short-side 512`" in told
    assert "34 times fewer pixels" in told


def test_photographs_of_a_usual_size_are_not_talked_about() -> None:
    for side in (0, 256, 375, 750, 1023):
        assert describe_large(side, PhotoPicture()) == ""
    assert describe_large(1024, PhotoPicture())
    assert describe_large(1024, PhotoPicture(evaluation_size=300)) == ""
