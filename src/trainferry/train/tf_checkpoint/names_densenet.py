"""The variables of the TensorFlow DenseNet and the weights of ours that hold the same."""

from __future__ import annotations

from trainferry.train.networks.sizes import DENSENET_LAYERS
from trainferry.train.tf_checkpoint.layout import AS_IS, SCALAR
from trainferry.train.tf_checkpoint.mapping import (
    TensorMapping,
    classifier_mappings,
    convolution_mapping,
    norm_mappings,
    numbered,
)


def densenet_mappings(size: int) -> tuple[TensorMapping, ...]:
    """Every variable that inference needs; convolutions are numbered, normalisations named."""
    convolutions, norms = _layers(size)
    found = [
        convolution_mapping(f"{numbered('conv2d', number)}/kernel", ours)
        for number, ours in enumerate(convolutions)
    ]
    for scope, ours in norms:
        found += norm_mappings(scope, ours)
    return (*found, *classifier_mappings("linear", "classifier"))


def debias_mappings(size: int) -> tuple[TensorMapping, ...]:
    """What the means need to go on; TensorFlow repeats the scope in front of their names."""
    return tuple(
        TensorMapping(f"{scope}/{scope}/moving_mean/{name}", (f"{ours}.{name}",), layout, False)
        for scope, ours in _layers(size)[1]
        for name, layout in (("biased", AS_IS), ("local_step", SCALAR))
    )


def _layers(size: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Our convolutions in TensorFlow's order, and its scopes of norms with ours."""
    convolutions: list[str] = ["stem"]
    norms: list[tuple[str, str]] = []
    blocks = DENSENET_LAYERS[size]
    for block, count in enumerate(blocks):
        part = f"parts.{2 * block}"
        scope = "dense_final" if block == len(blocks) - 1 else f"dense_{block}"
        for layer in range(count):
            ours = f"{part}.layers.{layer}"
            convolutions += [f"{ours}.convolution1", f"{ours}.convolution2"]
            norms += [(f"{scope}_bottleN_{layer}_batch{n}", f"{ours}.norm{n}") for n in (1, 2)]
        if block < len(blocks) - 1:
            transition = f"parts.{2 * block + 1}"
            convolutions.append(f"{transition}.convolution")
            norms.append((f"trans_{block}_batch1", f"{transition}.norm"))
    return convolutions, [*norms, ("linear_batch", "last_norm")]
