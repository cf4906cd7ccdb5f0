"""Small data for the networks of `rehearse_zoo.py`, in the formats that they read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from originals_data import WORD_SIZE, make_photos

from trainferry.train.data.example import build_example
from trainferry.train.data.tfrecord import write_records

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


def make_words(folder: Path, project: Path) -> None:  # noqa: ARG001  # as the other makers
    """Word pictures with the lengths of their words, and tables of characters."""
    random = np.random.default_rng(1)
    for name in ("train", "val"):
        write_records(folder / "tfrecords" / f"{name}_1.tfrecords", _words(random, 64))
    ordinals = {f"{ord(letter)}_ord": letter for letter in ALPHABET}
    indexes = {f"{index}_index": str(ord(letter)) for index, letter in enumerate(ALPHABET)}
    (folder / "characters.json").write_text(json.dumps(ordinals), "utf-8")
    (folder / "order.json").write_text(json.dumps(indexes), "utf-8")


def make_signs(folder: Path, project: Path) -> None:
    """The street signs that come with the network's tests, in the folders of its data set."""
    source = project / "datasets/testdata/fsns"
    (folder / "train").mkdir(parents=True)
    shutil.copy(source / "charset_size=134.txt", folder)
    shutil.copy(source / "fsns-00000-of-00001", folder / "train/train-00000-of-00001")


def make_shards(folder: Path, project: Path) -> None:
    """The pictures under the names of all files of ImageNet, which ResNet50TF asks for."""
    make_photos(folder, project)
    for name, count in (("train", 1024), ("validation", 128)):
        for number in range(count):
            (folder / f"{name}-{number:05d}-of-{count:05d}").hardlink_to(
                next(folder.glob(f"{name}-00000-of-0000?"))
            )


def _words(random: np.random.Generator, count: int) -> Iterator[bytes]:
    for number in range(count):
        letters = random.integers(0, len(ALPHABET), size=random.integers(2, 8))
        yield build_example(
            {
                "images": random.integers(0, 256, WORD_SIZE, dtype=np.uint8).tobytes(),
                "imagepaths": f"word_{number}.jpg",
                "labels": [int(letter) for letter in letters],
                "labels_length": len(letters),
            }
        )
