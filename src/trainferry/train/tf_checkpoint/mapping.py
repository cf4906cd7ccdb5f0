"""One variable of TensorFlow and the weights of ours that hold the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainferry.train.tf_checkpoint.layout import AS_IS, CONVOLUTION, MATRIX, Layout

# Ours -> TensorFlow's; the statistics are kept, not trained.
_NORM_WEIGHTS = {"weight": "gamma", "bias": "beta"}
_NORM_STATISTICS = {"running_mean": "moving_mean", "running_var": "moving_variance"}


@dataclass(frozen=True)
class TensorMapping:
    """One variable of TensorFlow, and the weights of ours it is made of."""

    tensorflow: str
    ours: tuple[str, ...]
    layout: Layout
    trained: bool = True


def convolution_mapping(tensorflow: str, ours: str) -> TensorMapping:
    """A kernel: `ours` is the layer, `tensorflow` the variable."""
    return TensorMapping(tensorflow, (f"{ours}.weight",), CONVOLUTION)


def norm_mappings(tensorflow: str, ours: str) -> Iterator[TensorMapping]:
    """The four variables of a batch normalisation, by their scopes."""
    for names, trained in ((_NORM_WEIGHTS, True), (_NORM_STATISTICS, False)):
        for our_name, name in names.items():
            yield TensorMapping(f"{tensorflow}/{name}", (f"{ours}.{our_name}",), AS_IS, trained)


def classifier_mappings(tensorflow: str, ours: str) -> Iterator[TensorMapping]:
    """Kernel and bias of a dense layer, by their scopes."""
    yield TensorMapping(f"{tensorflow}/kernel", (f"{ours}.weight",), MATRIX)
    yield TensorMapping(f"{tensorflow}/bias", (f"{ours}.bias",), AS_IS)


def numbered(name: str, number: int) -> str:
    """Name a layer as TensorFlow does when nobody else did: `conv2d`, `conv2d_1` and so on."""
    return name if number == 0 else f"{name}_{number}"
