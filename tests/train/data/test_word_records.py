"""Words in records, in both layouts."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.train.data.samples import encoded_word, open_words, picture, saved, write_words
from trainferry.errors import DataError, PictureError, RecordError
from trainferry.train.data.example import build_example
from trainferry.train.data.pictures import Filter, Picture, decode_picture, resize_picture
from trainferry.train.data.tfrecord import write_records
from trainferry.train.data.words.alphabet import LATIN36, LATIN36_ZOO, Alphabet, write_alphabet
from trainferry.train.data.words.records import Order


def test_encoded_words_are_resized_and_folded(tmp_path: Path) -> None:
    records = open_words([write_words(tmp_path / "train_1.tfrecords", ["Ferry", "42"])])
    sample = records.sample(0)
    assert sample.picture.shape == (32, 100, 3)
    assert sample.text == "ferry"
    assert sample.name == "train_1.tfrecords:0"
    assert [records.text(number) for number in range(len(records))] == ["ferry", "42"]


def test_the_case_is_kept_on_request(tmp_path: Path) -> None:
    records = open_words([write_words(tmp_path / "a.tfrecords", ["Ferry"])], case="keep")
    assert records.sample(0).text == records.text(0) == "Ferry"


def test_the_path_in_a_record_is_its_name(tmp_path: Path) -> None:
    write_records(tmp_path / "a.tfrecords", [encoded_word("x", name="3000/1/x_1.jpg")])
    records = open_words([tmp_path / "a.tfrecords"])
    assert records.sample(0).name == records.name(0) == "3000/1/x_1.jpg"
    assert records.where(0) == "a.tfrecords:0"


def test_blue_comes_first_on_request(tmp_path: Path) -> None:
    path = write_words(tmp_path / "a.tfrecords", ["x"])
    rgb, bgr = open_words([path]).sample(0), open_words([path], order="bgr").sample(0)
    assert np.array_equal(rgb.picture[:, :, ::-1], bgr.picture)
    assert bgr.picture.flags.c_contiguous


def test_grey_and_cmyk_pictures_are_rgb(tmp_path: Path) -> None:
    image = Image.fromarray(picture())
    data = [saved(image.convert(mode), "JPEG") for mode in ("L", "CMYK")]
    examples = [build_example({"image/encoded": one, "image/text": "x"}) for one in data]
    write_records(tmp_path / "a.tfrecords", examples)
    records = open_words([tmp_path / "a.tfrecords"])
    assert [records.sample(number).picture.shape for number in (0, 1)] == [(32, 100, 3)] * 2


def test_a_negative_class_number_spoils_its_record_and_no_other(tmp_path: Path) -> None:
    write_alphabet(Alphabet(LATIN36), tmp_path)
    values = picture(0, 32, 100).tobytes()
    examples = [
        build_example({"images": values, "labels": labels, "labels_length": 1})
        for labels in ([-1], [10])
    ]
    write_records(tmp_path / "a.tfrecords", examples)
    records = open_words([tmp_path / "a.tfrecords"])
    with pytest.raises(RecordError, match="class number -1"):
        records.text(0)
    assert records.fill(np.zeros((2, 32, 100, 3), np.uint8), [0, 1]) == [None, "a"]


def test_raw_words_of_the_zoo_are_read_through_their_own_map(tmp_path: Path) -> None:
    write_alphabet(Alphabet(LATIN36_ZOO), tmp_path / "char_dict")
    labels = [*Alphabet(LATIN36_ZOO).encode("ferry"), 36, 36, 36]
    path = tmp_path / "tfrecords" / "train_1.tfrecords"
    write_records(path, [_raw(picture(0, 32, 100), labels, length=True)])
    sample = open_words([path]).sample(0)
    assert sample.text == "ferry"
    assert sample.name == "a/b.jpg"
    assert np.array_equal(sample.picture, picture(0, 32, 100))


def test_raw_words_of_upstream_hold_blue_first(tmp_path: Path) -> None:
    write_alphabet(Alphabet(LATIN36), tmp_path)
    path = tmp_path / "train_1.tfrecords"
    write_records(path, [_raw(picture(0, 32, 100)[:, :, ::-1], [1, 2], length=False)])
    assert np.array_equal(open_words([path]).sample(0).picture, picture(0, 32, 100))


def test_raw_words_of_another_width_are_resized(tmp_path: Path) -> None:
    write_alphabet(Alphabet(LATIN36), tmp_path)
    path = tmp_path / "train_1.tfrecords"
    write_records(path, [_raw(picture(0, 32, 280), [1, 2], length=True)])
    expected = resize_picture(picture(0, 32, 280), 32, 100, "antialias")
    assert np.array_equal(open_words([path]).sample(0).picture, expected)


def test_raw_words_without_a_map_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "train_1.tfrecords"
    write_records(path, [_raw(picture(0, 32, 100), [1], length=True)])
    with pytest.raises(DataError, match=r"no ord_map\.json"):
        open_words([path])


def test_a_raw_picture_of_an_impossible_size_is_refused(tmp_path: Path) -> None:
    write_alphabet(Alphabet(LATIN36), tmp_path)
    path = tmp_path / "train_1.tfrecords"
    write_records(path, [build_example({"images": b"12345", "labels": [1]})])
    with pytest.raises(RecordError, match="5 bytes"):
        open_words([path]).sample(0)


def test_both_layouts_can_stand_side_by_side(tmp_path: Path) -> None:
    write_alphabet(Alphabet(LATIN36), tmp_path)
    raw = tmp_path / "train_2.tfrecords"
    write_records(raw, [_raw(picture(0, 32, 100), [10, 11], length=True)])
    records = open_words([write_words(tmp_path / "train_1.tfrecords", ["one"]), raw])
    assert [records.text(number) for number in range(2)] == ["one", "ab"]


def test_records_of_something_else_are_refused_with_what_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecords"
    write_records(path, [build_example({"image/encoded": b"x", "image/class/label": 3})])
    with pytest.raises(RecordError, match="`image/class/label`, `image/encoded`"):
        open_words([path])


def test_the_layout_is_found_behind_damaged_records(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecords"
    write_records(path, [b"\xff no example", encoded_word("good")])
    records = open_words([path])
    assert records.text(1) == "good"
    with pytest.raises(RecordError, match=r"no tf\.train\.Example"):
        records.text(0)


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ({"image/text": "x"}, RecordError, "no feature `image/encoded`"),
        ({"image/text": "x", "image/encoded": 3}, RecordError, "no feature `image/encoded`"),
        ({"image/text": "x", "image/encoded": b"no picture"}, PictureError, "no picture"),
        ({"image/text": b"\xff\xfe", "image/encoded": b""}, DataError, "."),
    ],
)
def test_each_bad_record_has_its_own_error(
    tmp_path: Path, features: dict[str, str | bytes | int], error: type[DataError], message: str
) -> None:
    path = tmp_path / "a.tfrecords"
    write_records(path, [encoded_word("good"), build_example(features)])
    records = open_words([path])
    with pytest.raises(error, match=message):
        records.sample(1)
    assert records.sample(0).text == "good"


@pytest.mark.parametrize("order", ["rgb", "bgr"])
@pytest.mark.parametrize("filter", ["antialias", "bilinear"])
def test_filling_an_array_gives_the_same_pictures_and_texts(
    tmp_path: Path, filter: Filter, order: Order
) -> None:
    path = write_words(tmp_path / "a.tfrecords", ["One", "Two", "Three"])
    records = open_words([path], filter=filter, order=order)
    pictures = np.zeros((2, 32, 100, 3), np.uint8)
    assert records.fill(pictures, [2, 0]) == ["three", "one"]
    assert np.array_equal(pictures[0], records.sample(2).picture)
    assert np.array_equal(pictures[1], records.sample(0).picture)


def test_filling_leaves_out_what_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecords"
    no_picture = build_example({"image/text": "x", "image/encoded": b"no picture"})
    write_records(path, [encoded_word("good"), b"\xff no example", no_picture])
    pictures = np.full((3, 32, 100, 3), 7, np.uint8)
    assert open_words([path]).fill(pictures, [1, 0, 2]) == [None, "good", None]
    assert (pictures[[0, 2]] == 7).all()


def test_a_pickled_set_gives_the_same_samples(tmp_path: Path) -> None:
    records = open_words([write_words(tmp_path / "a.tfrecords", ["Ferry"])], order="bgr")
    again = pickle.loads(pickle.dumps(records))
    assert again == records
    assert np.array_equal(again.sample(0).picture, records.sample(0).picture)


def test_real_words_are_read(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "scene_text_words" / "svt_test"
    pairs = [line.split("\t") for line in (folder / "gt.tsv").read_text().splitlines()[:50]]
    data = [(folder / name).read_bytes() for name, _ in pairs]
    examples = [
        build_example({"image/encoded": one, "image/text": text})
        for one, (_, text) in zip(data, pairs, strict=True)
    ]
    write_records(tmp_path / "a.tfrecords", examples)
    records = open_words([tmp_path / "a.tfrecords"])
    for number, (_, text) in enumerate(pairs):
        sample = records.sample(number)
        assert sample.text == text.lower()
        expected = resize_picture(decode_picture(data[number]), 32, 100, "antialias")
        assert np.array_equal(sample.picture, expected)


def _raw(values: Picture, labels: Sequence[int], *, length: bool) -> bytes:
    features: dict[str, bytes | str | int | Sequence[int]] = {
        "images": np.ascontiguousarray(values).tobytes(),
        "labels": labels,
        "imagepaths": "a/b.jpg",
    }
    if length:
        features["labels_length"] = len(labels)
    return build_example(features)
