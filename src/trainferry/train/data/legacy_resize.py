"""Bilinear resizing as TensorFlow 1 does it by default, without half pixels.

Output pixel i looks at source position i * in / out and at the next pixel; the last one stands
in where there is no next. This is `resize_images` with BILINEAR and `align_corners=False`.

Values that are not rounded are TensorFlow's own to the last bit: positions in float32, first
across, then down. Rounded ones are made faster, with the weights out - k and k where k is
i * in modulo out: whole numbers, so that all sums are exact up to 256 x 256, and the same in
any order on any machine.

Across is down on the transposed picture: rows are combined several times as fast as pixels.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainferry.train.data.pictures import Picture
from trainferry.train.data.scratch import Scratch

Floats: TypeAlias = NDArray[np.float32]
Pixels: TypeAlias = NDArray[Any]  # height x width x 3

_scratch = Scratch()


def resize_legacy(picture: Picture, height: int, width: int) -> Floats:
    """Return the picture, height x width x 3, in values from 0 to 255 that are not rounded."""
    return resize_legacy_part(picture, (height, width), range(height), range(width))


def resize_legacy_part(
    picture: Picture, size: tuple[int, int], rows: range, columns: range
) -> Floats:
    """Return these rows and columns of the picture resized to `size`, height and width."""
    across = _interpolate(_turned(np.ascontiguousarray(picture)), size[1], columns)
    return _interpolate(_transposed(across), size[0], rows).copy()


def resize_legacy_into(target: Pixels, picture: Picture) -> None:
    """Resize to the size of `target`; if it holds bytes, round, halves to even.

    `picture` may be a mirrored view; for bytes, that costs nothing.
    """
    height, width = target.shape[:2]
    if target.dtype != np.uint8:
        target[...] = resize_legacy(picture, height, width)
        return
    mirrored = picture.strides[1] < 0
    plain = picture[:, ::-1] if mirrored else picture
    # The longer side first: it leaves less for the second step.
    if plain.shape[1] < plain.shape[0]:
        sums = _combine(_transposed(_combine(plain, height, False)), width, mirrored)
        turned = _scratch.bytes("turned", sums.shape)
        _round(sums, turned)
        _transpose(turned, target)
    else:
        across = _combine(_turned(plain), width, mirrored)
        _round(_combine(_transposed(across), height, False), target)


def _interpolate(lines: Pixels, size: int, wanted: range) -> Floats:
    """Return the `wanted` ones of `size` lines spread over those given."""
    indices = np.arange(wanted.start, wanted.stop, dtype=np.float32)
    positions = indices * (np.float32(len(lines)) / np.float32(size))
    low = positions.astype(np.intp)
    weights = positions - low.astype(np.float32)
    start = _take(lines, low, "start")
    line = _take(lines, low + 1, "line")
    line -= start
    line *= weights[:, None, None]
    line += start
    return line


def _take(lines: Pixels, indices: NDArray[np.intp], name: str) -> Floats:
    shape = (len(indices), *lines.shape[1:])
    taken = _scratch.floats(name, shape)
    # Beyond the last line, "clip" takes the last line.
    if lines.dtype == np.float32:
        return lines.take(indices, axis=0, out=taken, mode="clip")
    values = _scratch.bytes("taken", shape)
    taken[...] = lines.take(indices, axis=0, out=values, mode="clip")
    return taken


def _combine(lines: Pixels, size: int, mirrored: bool) -> Floats:
    """Return `size` lines spread over those given, all of them times `size`."""
    values = lines
    if lines.dtype != np.float32:
        values = _scratch.floats("lines", lines.shape)
        values[...] = lines
    indices, weights = _whole_weights(len(lines), size, mirrored)
    rows = torch.from_numpy(values.reshape(len(lines), -1))
    sums = torch.embedding_bag(rows, indices, _starts(size), per_sample_weights=weights)[0]
    combined: Floats = sums.numpy().reshape(size, *lines.shape[1:])
    return combined


@lru_cache(maxsize=2048)
def _whole_weights(count: int, size: int, mirrored: bool) -> tuple[Tensor, Tensor]:
    """Return the two lines and the two weights of each position."""
    low, share = np.divmod(np.arange(size) * count, size)
    lines = np.minimum(np.stack([low, low + 1], axis=1), count - 1)
    if mirrored:
        lines = count - 1 - lines
    weights = np.stack([size - share, share], axis=1)
    return (
        torch.from_numpy(lines.ravel().astype(np.int32)),
        torch.from_numpy(weights.ravel().astype(np.float32)),
    )


@lru_cache(maxsize=16)
def _starts(size: int) -> Tensor:
    return torch.from_numpy(np.arange(0, 2 * size, 2, dtype=np.int32))


def _round(sums: Floats, target: Picture) -> None:
    """Divide by the sum of all weights."""
    factor = 1 / (target.shape[0] * target.shape[1])
    opencv = _opencv()
    if opencv is not None:
        _keep(opencv.convertScaleAbs(sums, target, factor), target)
        return
    sums *= np.float32(factor)
    np.copyto(target, np.rint(sums, out=sums), casting="unsafe")


def _turned(picture: Picture) -> Picture:
    height, width, channels = picture.shape
    target = _scratch.bytes("turned", (width, height, channels))
    _transpose(picture, target)
    return target


def _transposed(lines: Floats) -> Floats:
    height, width, channels = lines.shape
    target = _scratch.floats("lines", (width, height, channels))
    _transpose(lines, target)
    return target


def _transpose(picture: Pixels, target: Pixels) -> None:
    opencv = _opencv()
    if opencv is not None:
        _keep(opencv.transpose(picture, target), target)
        return
    pixel = np.dtype((np.void, picture.shape[2] * picture.itemsize))
    target.view(pixel)[:, :, 0] = picture.view(pixel)[:, :, 0].T


def _keep(result: Pixels, target: Pixels) -> None:
    """Copy what OpenCV made elsewhere because it could not write into the target."""
    if result is not target:
        target[...] = result


@cache
def _opencv() -> Any:  # noqa: ANN401 - a module
    """Return OpenCV, which transposes and rounds faster than numpy to the same values."""
    try:
        import cv2
    except ImportError:
        return None
    return cv2
