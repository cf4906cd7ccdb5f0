"""The small data for public projects has the features that they read."""

from __future__ import annotations

import io
from pathlib import Path

from benchmarks.originals_data import make_photos, make_words
from PIL import Image

from trainferry.train.data.example import parse_example
from trainferry.train.data.tfrecord import RecordFile


def test_words_are_raw_pictures_with_letters(tmp_path: Path) -> None:
    original = tmp_path / "original"
    (original / "data/char_dict").mkdir(parents=True)
    (original / "data/char_dict/char_dict_en.json").write_text("{}")
    make_words(tmp_path / "data", original)
    records = RecordFile(tmp_path / "data/tfrecords/train_1.tfrecords")
    features = parse_example(records[0])
    assert len(records) == 64
    assert [len(value) for value in features["images"] if isinstance(value, bytes)] == [9600]
    assert set(features) == {"images", "imagepaths", "labels"}
    assert (tmp_path / "data/char_dict/char_dict_en.json").exists()


def test_photos_are_jpeg_files_with_a_class(tmp_path: Path) -> None:
    make_photos(tmp_path / "data", tmp_path)
    features = parse_example(RecordFile(tmp_path / "data/train-00001-of-00002")[5])
    (encoded,) = features["image/encoded"]
    assert isinstance(encoded, bytes)
    assert Image.open(io.BytesIO(encoded)).size == (96, 96)
    (label,) = features["image/class/label"]
    assert label in range(1, 1001)
