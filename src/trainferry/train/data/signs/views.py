"""Pictures of one sign put side by side, as FSNS has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trainferry.train.data.pictures import Picture, resize_picture


def place_views(
    views: Sequence[Picture], *, places: int, height: int, width: int, seed: int
) -> Picture:
    """Put each view whole into the middle of its place; what they do not cover is noise.

    A place is `height` x `width`, and there are `places` of them from left to right.
    """
    joined = noise(height, places * width, np.random.default_rng(seed))
    for number, view in enumerate(views):
        scale = min(height / view.shape[0], width / view.shape[1])
        high, wide = (max(1, round(side * scale)) for side in view.shape[:2])
        top, left = (height - high) // 2, number * width + (width - wide) // 2
        fitted = resize_picture(view, high, wide, "antialias")
        joined[top : top + high, left : left + wide] = fitted
    return joined


def noise(height: int, width: int, generator: np.random.Generator) -> Picture:
    """Return what FSNS shows where nothing was photographed: every value equally likely."""
    return generator.integers(0, 256, (height, width, 3), np.uint8)
