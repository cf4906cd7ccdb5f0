"""The variables of the TensorFlow CRNNs and the weights of ours that hold the same numbers.

There are two sets of names. "stock" cells: the upstream project and the first zoo version.
"fused" cells: the current zoo version, whose NPU operator keeps the same kernels under
other names. TensorFlow's forget bias is added at run time and stored nowhere; ours is the
constant `bias_hh`, so a bias maps to `bias_ih` as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from trainferry.train.tf_checkpoint.layout import (
    AS_IS,
    CONVOLUTION,
    LSTM_BIAS,
    LSTM_KERNEL,
    MATRIX,
)
from trainferry.train.tf_checkpoint.mapping import TensorMapping, norm_mappings

Cells: TypeAlias = Literal["stock", "fused"]

SCOPE = "shadow_net/"
_FEATURES = f"{SCOPE}feature_extraction_module/"
_SEQUENCE = f"{SCOPE}sequence_rnn_module/"

# Scope of each stock cell, scope of each fused cell, ending of our names.
_CELLS = (
    ("cell_0/bidirectional_rnn/fw", "dynamic_rnn", "l0"),
    ("cell_0/bidirectional_rnn/bw", "dynamic_rnn_1", "l0_reverse"),
    ("cell_1/bidirectional_rnn/fw", "dynamic_rnn_2", "l1"),
    ("cell_1/bidirectional_rnn/bw", "dynamic_rnn_3", "l1_reverse"),
)


def crnn_mappings(cells: Cells) -> tuple[TensorMapping, ...]:
    """The 46 variables that inference needs, in the order of the network."""
    projection = TensorMapping(f"{_SEQUENCE}w", ("classifier.weight",), MATRIX)
    return (*_convolutions(), *_recurrence(cells), projection)


def find_cells(names: list[str]) -> Cells:
    """Tell from the names of a checkpoint which kind of cells it was saved from."""
    return "fused" if any("/dynamicrnn/" in name for name in names) else "stock"


def _convolutions() -> Iterator[TensorMapping]:
    for number in range(1, 8):
        # The first two layers are a block of their own, and have a bias.
        block = number <= 2
        convolution = f"{_FEATURES}conv{number}" + ("/conv" if block else "")
        norm = f"{_FEATURES}conv{number}/bn" if block else f"{_FEATURES}bn{number}"
        ours = f"convolutions.conv{number}"
        yield TensorMapping(f"{convolution}/W", (f"{ours}.weight",), CONVOLUTION)
        if block:
            yield TensorMapping(f"{convolution}/b", (f"{ours}.bias",), AS_IS)
        yield from norm_mappings(norm, f"convolutions.norm{number}")


def _recurrence(cells: Cells) -> Iterator[TensorMapping]:
    for stock, fused, ending in _CELLS:
        if cells == "stock":
            scope, kernel, bias = f"stack_bidirectional_rnn/{stock}/lstm_cell", "kernel", "bias"
        else:
            scope, kernel, bias = f"{fused}/dynamicrnn", "w", "b"
        weights = (f"recurrence.weight_ih_{ending}", f"recurrence.weight_hh_{ending}")
        yield TensorMapping(f"{_SEQUENCE}{scope}/{kernel}", weights, LSTM_KERNEL)
        yield TensorMapping(
            f"{_SEQUENCE}{scope}/{bias}", (f"recurrence.bias_ih_{ending}",), LSTM_BIAS
        )
