"""Memory that is used again for every picture: fresh pages cost more than the work done on them."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_KEPT = 1 << 23  # values


class Scratch(threading.local):
    """Arrays by name; one lives until its name is asked for again in the same thread."""

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[Any]] = {}

    def bytes(self, name: str, shape: tuple[int, ...]) -> NDArray[np.uint8]:
        """Return an array with whatever values are there."""
        return self._array(name, shape, np.uint8)

    def floats(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Return an array with whatever values are there."""
        return self._array(name, shape, np.float32)

    def _array(self, name: str, shape: tuple[int, ...], kind: type[np.generic]) -> NDArray[Any]:
        size = math.prod(shape)
        if size > _MOST_KEPT:
            return np.empty(shape, kind)
        kept = self._kept.get(name)
        if kept is None or len(kept) < size:
            kept = self._kept[name] = np.empty(size + size // 4, kind)
        return kept[:size].reshape(shape)
