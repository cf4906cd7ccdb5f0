"""Small pictures and record files for the tests of this folder."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from trainferry.train.data.example import build_example
from trainferry.train.data.pictures import Filter, Picture, encode_jpeg
from trainferry.train.data.tfrecord import write_records
from trainferry.train.data.words.alphabet import LATIN36, Alphabet
from trainferry.train.data.words.records import Case, Order, WordRecords


def picture(seed: int = 0, height: int = 32, width: int = 80) -> Picture:
    """Smooth colours with some noise: what JPEG keeps well."""
    random = np.random.default_rng(seed)
    small = random.integers(0, 256, (4, 6, 3), dtype=np.uint8)
    image = Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)
    return np.array(image)


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def encoded_word(text: str, seed: int = 0, name: str = "") -> bytes:
    features: dict[str, bytes | str] = {
        "image/encoded": encode_jpeg(picture(seed), 90),
        "image/text": text,
    }
    if name:
        features["image/path"] = name
    return build_example(features)


def write_words(path: Path, texts: Sequence[str]) -> Path:
    write_records(path, [encoded_word(text, seed) for seed, text in enumerate(texts)])
    return path


def open_words(
    paths: Sequence[Path],
    *,
    case: Case = "lower",
    filter: Filter = "antialias",
    order: Order = "rgb",
    alphabet: str = LATIN36,
) -> WordRecords:
    return WordRecords(
        paths, Alphabet(alphabet), case=case, height=32, width=100, filter=filter, order=order
    )
