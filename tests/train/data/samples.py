"""Small pictures and record files for the tests of this folder."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from trainferry.train.data import jpeg_reduced, jpeg_region, legacy_resize, pictures
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


def damaged(data: bytes) -> Iterator[memoryview]:
    """Yield two hundred copies with three bytes changed, never the marks of start and end."""
    random = np.random.default_rng(3)
    for _ in range(200):
        copy = bytearray(data)
        for _ in range(3):
            copy[random.integers(2, len(data) - 2)] = random.integers(256)
        yield memoryview(copy)


@contextmanager
def decoders_without(monkeypatch: pytest.MonkeyPatch, packages: Sequence[str]) -> Iterator[None]:
    """Let pictures be decoded as where these packages are not installed."""
    with monkeypatch.context() as patch:
        for name in packages:
            patch.setitem(sys.modules, name, None)
        _clear_decoders()
        try:
            yield
        finally:
            _clear_decoders()


def _clear_decoders() -> None:
    for remembered in (
        pictures._jpeg_decoder,
        jpeg_reduced._decoder,
        jpeg_region._decoder,
        legacy_resize._opencv,
    ):
        remembered.cache_clear()


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
