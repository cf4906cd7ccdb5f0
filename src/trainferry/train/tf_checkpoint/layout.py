"""How TensorFlow and PyTorch lay out the same weights, in plain NumPy, both ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# TensorFlow orders a cell's gates i, j, f, o; PyTorch i, f, g, o, where g is TensorFlow's j.
# Swapping the two in the middle is its own way back.
_GATES = (0, 2, 1, 3)


@dataclass(frozen=True)
class Layout:
    """One tensor of TensorFlow and the one or two of ours that hold the same numbers."""

    dimensions: int
    to_ours: Callable[[Array], tuple[Array, ...]]
    to_tensorflow: Callable[..., Array]


def _kernel_to_ours(kernel: Array) -> tuple[Array, Array]:
    """Rows [x; h] of TensorFlow's kernel become the columns of two matrices."""
    hidden = kernel.shape[1] // 4
    rows = _swap_gates(kernel).T
    return rows[:, :-hidden].copy(), rows[:, -hidden:].copy()


def _kernel_to_tensorflow(of_inputs: Array, of_hidden: Array) -> Array:
    return _swap_gates(np.concatenate([of_inputs, of_hidden], axis=1).T)


def _swap_gates(values: Array) -> Array:
    blocks = values.reshape(*values.shape[:-1], 4, -1)
    return np.ascontiguousarray(blocks[..., _GATES, :]).reshape(values.shape)


def _transposed(*order: int) -> Callable[[Array], Array]:
    return lambda values: np.ascontiguousarray(values.transpose(order))


def _one(function: Callable[[Array], Array]) -> Callable[[Array], tuple[Array, ...]]:
    return lambda values: (function(values),)


SCALAR = Layout(0, _one(np.copy), np.copy)
AS_IS = Layout(1, _one(np.copy), np.copy)
CONVOLUTION = Layout(4, _one(_transposed(3, 2, 0, 1)), _transposed(2, 3, 1, 0))  # HWIO, OIHW
MATRIX = Layout(2, _one(_transposed(1, 0)), _transposed(1, 0))
LSTM_KERNEL = Layout(2, _kernel_to_ours, _kernel_to_tensorflow)
LSTM_BIAS = Layout(1, _one(_swap_gates), _swap_gates)
