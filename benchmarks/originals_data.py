"""Small data for the originals of `rehearse_originals.py`: noise with labels, in their formats."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from trainferry.train.data.example import build_example
from trainferry.train.data.tfrecord import write_records

WORD_SIZE = (32, 100, 3)
PHOTO_SIZE = (96, 96, 3)
FSNS = "datasets/testdata/fsns"


def make_words(folder: Path, original: Path) -> None:
    """Word pictures as CRNN_Tensorflow reads them, and its own tables of characters."""
    random = np.random.default_rng(1)
    records = folder / "tfrecords"
    records.mkdir(parents=True)
    for name in ("train_1", "train_2", "val_1"):
        write_records(records / f"{name}.tfrecords", _words(random, 64))
    shutil.copytree(original / "data/char_dict", folder / "char_dict")


def make_photos(folder: Path, original: Path) -> None:  # noqa: ARG001  # as the other makers
    """JPEG pictures with a class, in two files for training, as the ImageNet scripts write them."""
    random = np.random.default_rng(1)
    folder.mkdir(parents=True)
    for name in ("train-00000-of-00002", "train-00001-of-00002", "validation-00000-of-00001"):
        write_records(folder / name, _photos(random, 32))


def make_signs(folder: Path, original: Path) -> None:
    """The street signs that the original brings for its tests, in the folders of its data set."""
    source = original / FSNS
    (folder / "train").mkdir(parents=True)
    shutil.copy(source / "charset_size=134.txt", folder)
    for number in range(2):
        shutil.copy(source / "fsns-00000-of-00001", folder / f"train/train-0000{number}-of-00002")


def make_nothing(folder: Path, original: Path) -> None:  # noqa: ARG001  # as the other makers
    """For a script that makes its data itself."""
    folder.mkdir(parents=True)


def _words(random: np.random.Generator, count: int) -> Iterator[bytes]:
    for number in range(count):
        letters = random.integers(0, 36, size=random.integers(2, 8))
        yield build_example(
            {
                "images": random.integers(0, 256, WORD_SIZE, dtype=np.uint8).tobytes(),
                "imagepaths": f"word_{number}.jpg",
                "labels": [int(letter) for letter in letters],
            }
        )


def _photos(random: np.random.Generator, count: int) -> Iterator[bytes]:
    for _ in range(count):
        picture = Image.fromarray(random.integers(0, 256, PHOTO_SIZE, dtype=np.uint8))
        stream = io.BytesIO()
        picture.save(stream, "JPEG")
        yield build_example(
            {
                "image/encoded": stream.getvalue(),
                "image/class/label": int(random.integers(1, 1001)),
                "image/class/text": "noise",
            }
        )
