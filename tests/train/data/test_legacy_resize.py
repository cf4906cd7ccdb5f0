"""Resizing as TensorFlow 1 does it, compared with what TensorFlow 1.15.5 gave."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from trainferry.train.data import legacy_resize
from trainferry.train.data.legacy_resize import (
    resize_legacy,
    resize_legacy_into,
    resize_legacy_part,
)
from trainferry.train.data.pictures import Picture

GOLDEN = np.load(Path(__file__).parent / "files" / "photo_golden.npz")
RESIZED = [name for name in GOLDEN.files if name.startswith("resized_")]


@pytest.mark.parametrize("name", RESIZED)
@pytest.mark.parametrize("absent", [(), ("cv2",)])
def test_values_are_those_of_tensorflow(
    monkeypatch: pytest.MonkeyPatch, name: str, absent: tuple[str, ...]
) -> None:
    height, width, high, wide = map(int, name.split("_")[1:])
    with without(monkeypatch, absent):
        resized = resize_legacy(synthetic(height, width), high, wide)
    assert resized.dtype == np.float32
    assert np.array_equal(resized, GOLDEN[name])


def test_the_same_size_keeps_all_values() -> None:
    picture = synthetic(41, 67)
    assert np.array_equal(resize_legacy(picture, 41, 67), picture)


@pytest.mark.parametrize("size", [(50, 60), (60, 50), (33, 47), (1, 1), (20, 300), (300, 7)])
@pytest.mark.parametrize("absent", [(), ("cv2",)])
def test_bytes_are_the_nearest_to_the_exact_values(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], absent: tuple[str, ...]
) -> None:
    for picture in (synthetic(*size), synthetic(*size)[:, ::-1]):
        target = np.empty((33, 47, 3), np.uint8)
        with without(monkeypatch, absent):
            resize_legacy_into(target, picture)
        exact = exactly_resized(picture, 33, 47)
        assert np.abs(target - exact).max() < 0.5 + 1e-4
        assert np.abs(exact - resize_legacy(picture, 33, 47)).max() < 0.01


def test_opencv_changes_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    for height, width in ((250, 270), (270, 250), (100, 90), (90, 100), (224, 224)):
        picture = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
        targets = [np.empty((224, 224, 3), np.uint8) for _ in range(2)]
        resize_legacy_into(targets[0], picture)
        with without(monkeypatch, ("cv2",)):
            resize_legacy_into(targets[1], picture)
        assert np.array_equal(targets[0], targets[1])


def test_a_target_need_not_lie_in_one_piece() -> None:
    for size in ((50, 60), (60, 50)):
        loose = np.zeros((40, 2, 30, 3), np.uint8)
        target = np.empty((40, 30, 3), np.uint8)
        resize_legacy_into(loose[:, 1], synthetic(*size))
        resize_legacy_into(target, synthetic(*size))
        assert np.array_equal(loose[:, 1], target)
        assert not loose[:, 0].any()


def test_a_target_may_be_of_floats_and_part_of_a_batch() -> None:
    picture = synthetic(50, 60)
    batch = np.zeros((2, 33, 47, 3), np.float32)
    resize_legacy_into(batch[1], picture)
    assert np.array_equal(batch[1], resize_legacy(picture, 33, 47))
    assert not batch[0].any()


def test_a_mirrored_view_is_as_good_as_a_copy() -> None:
    picture = synthetic(50, 60)[3:45, 7:58]
    mirrored = np.ascontiguousarray(picture[:, ::-1])
    expected = resize_legacy(mirrored, 33, 47)
    assert np.array_equal(resize_legacy(picture[:, ::-1], 33, 47), expected)


def test_a_part_is_that_of_the_whole() -> None:
    picture = synthetic(50, 60)
    part = resize_legacy_part(picture, (80, 30), range(5, 70), range(2, 29))
    assert np.array_equal(part, resize_legacy(picture, 80, 30)[5:70, 2:29])


def test_what_was_resized_is_not_changed_by_the_next_picture() -> None:
    first = resize_legacy(synthetic(50, 60), 20, 20)
    before = first.copy()
    resize_legacy(255 - synthetic(50, 60), 20, 20)
    assert np.array_equal(first, before)


def test_threads_do_not_disturb_each_other() -> None:
    pictures = [synthetic(60 + number, 70) for number in range(8)]
    expected = [resize_legacy(picture, 50, 40) for picture in pictures]
    with ThreadPoolExecutor(4) as threads:
        for _ in range(5):
            resized = threads.map(lambda picture: resize_legacy(picture, 50, 40), pictures)
            assert all(map(np.array_equal, resized, expected))


def exactly_resized(picture: Picture, height: int, width: int) -> NDArray[np.float64]:
    """The same with whole numbers, until the last division."""
    values = picture.astype(np.int64)
    for axis, size in ((1, width), (0, height)):
        count = picture.shape[axis]
        low, share = np.divmod(np.arange(size) * count, size)
        share = share.reshape((-1, 1) if axis else (-1, 1, 1))
        high = np.minimum(low + 1, count - 1)
        values = values.take(low, axis) * (size - share) + values.take(high, axis) * share
    return values / (height * width)


@contextmanager
def without(monkeypatch: pytest.MonkeyPatch, absent: tuple[str, ...]) -> Iterator[None]:
    with monkeypatch.context() as patch:
        for module in absent:
            patch.setitem(sys.modules, module, None)
        legacy_resize._opencv.cache_clear()
        try:
            yield
        finally:
            legacy_resize._opencv.cache_clear()


def synthetic(height: int, width: int) -> Picture:
    """The picture that files/make_photo_golden.py resized."""
    y, x, c = np.ogrid[:height, :width, :3]
    return ((y * 7 + x * 13 + c * 31 + x * y // 5) % 256).astype(np.uint8)
