"""The variables of the TensorFlow DenseNet and the weights of ours that hold the same."""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.train.networks.densenet import LAYERS
from trainferry.train.tf_checkpoint.mapping import (
    TensorMapping,
    classifier_mappings,
    convolution_mapping,
    norm_mappings,
    numbered,
)


def densenet_mappings(size: int) -> tuple[TensorMapping, ...]:
    """Every variable that inference needs; convolutions are numbered, normalisations named."""
    convolutions: list[str] = ["stem"]
    norms: list[tuple[str, str]] = []
    blocks = LAYERS[size]
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
    norms.append(("linear_batch", "last_norm"))
    return tuple(_mappings(convolutions, norms))


def _mappings(convolutions: list[str], norms: list[tuple[str, str]]) -> Iterator[TensorMapping]:
    for number, ours in enumerate(convolutions):
        yield convolution_mapping(f"{numbered('conv2d', number)}/kernel", ours)
    for scope, ours in norms:
        yield from norm_mappings(scope, ours)
    yield from classifier_mappings("linear", "classifier")
