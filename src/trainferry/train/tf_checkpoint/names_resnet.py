"""The variables of TensorFlow's ResNets and the weights of ours that hold the same.

TensorFlow numbers layers in the order they are made: the stem, then block by block the
projection of the shortcut before the convolutions. The official models and the zoo's call scope
and norms by different names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.train.networks.resnet import Variant, Version
from trainferry.train.networks.sizes import RESNET_BLOCKS
from trainferry.train.tf_checkpoint.mapping import (
    TensorMapping,
    classifier_mappings,
    convolution_mapping,
    norm_mappings,
    numbered,
)

SCOPES = {"official": "resnet_model/", "zoo": "fp32_vars/"}
_NORMS = {"official": "batch_normalization", "zoo": "BatchNorm"}


def resnet_mappings(
    size: int, version: Version, variant: Variant = "official"
) -> tuple[TensorMapping, ...]:
    """Every variable that inference needs, in the order of the network."""
    convolutions, norms = _layers(size, version)
    scope, norm = SCOPES[variant], _NORMS[variant]
    found = [
        convolution_mapping(f"{scope}{numbered('conv2d', number)}/kernel", ours)
        for number, ours in enumerate(convolutions)
    ]
    for number, ours in enumerate(norms):
        found += norm_mappings(f"{scope}{numbered(norm, number)}", ours)
    return (*found, *classifier_mappings(f"{scope}dense", "classifier"))


def _layers(size: int, version: Version) -> tuple[list[str], list[str]]:
    """Our convolutions and normalisations in the order in which TensorFlow makes them."""
    convolutions = ["stem"]
    norms = ["stem_norm"] if version == 1 else []
    for block, is_first in _blocks(size):
        count = 3 if size >= 50 else 2
        if is_first:
            convolutions.append(f"{block}.projection")
            norms += [f"{block}.projection_norm"] if version == 1 else []
        convolutions += [f"{block}.convolutions.{place}" for place in range(count)]
        norms += [f"{block}.norms.{place}" for place in range(count)]
    return convolutions, norms + (["last_norm"] if version == 2 else [])


def _blocks(size: int) -> Iterator[tuple[str, bool]]:
    for stage, count in enumerate(RESNET_BLOCKS[size]):
        for number in range(count):
            yield f"stages.{stage}.{number}", number == 0
