"""Weights of a TensorFlow checkpoint as the start of a run, whole or of the tower alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from trainferry.train.recipe.networks import AttentionOCRRecipe, NetworkRecipe
from trainferry.train.tf_checkpoint.load import import_network, read_weights
from trainferry.train.tf_checkpoint.names import variable_names
from trainferry.train.tf_checkpoint.names_attention_ocr import SCOPE, inception_mappings
from trainferry.train.tf_checkpoint.read import TensorFlowCheckpoint, read_checkpoint

_INCEPTION = "InceptionV3/"


@dataclass(frozen=True)
class StartingWeights:
    """What a checkpoint gives a network, under our names, and which of its tensors give nothing.

    `expected` are all weights of ours that a checkpoint of the whole network has.
    """

    weights: dict[str, NDArray[Any]]
    left: tuple[tuple[str, str], ...]
    expected: frozenset[str]


def starting_weights(path: Path, network: NetworkRecipe) -> StartingWeights:
    """Read what a checkpoint has for a network; averaged weights where it has them.

    Attention-OCR may start from an Inception-v3 that was trained for something else.
    """
    checkpoint = read_checkpoint(path)
    if isinstance(network, AttentionOCRRecipe) and _is_inception(checkpoint):
        return _tower(checkpoint, network)
    imported = import_network(checkpoint, network)
    left = [*imported.ignored.items()]
    left += [(name, "not a variable of the network") for name in imported.unmatched]
    weights = {**imported.weights, **(imported.averages or {})}
    return StartingWeights(weights, tuple(left), _expected(network))


def _expected(network: NetworkRecipe) -> frozenset[str]:
    known = variable_names(network)
    mappings = (*known.needed, *known.for_training)
    return frozenset(name for mapping in mappings for name in mapping.ours)


def _is_inception(checkpoint: TensorFlowCheckpoint) -> bool:
    names = checkpoint.names()
    return any(name.startswith(_INCEPTION) for name in names) and not any(
        name.startswith(SCOPE) for name in names
    )


def _tower(checkpoint: TensorFlowCheckpoint, network: AttentionOCRRecipe) -> StartingWeights:
    mappings = inception_mappings(network.endpoint)
    taken = {mapping.tensorflow for mapping in mappings}
    reason = f"not part of an Inception-v3 up to {network.endpoint}"
    left = tuple((name, reason) for name in checkpoint.names() if name not in taken)
    return StartingWeights(read_weights(checkpoint, mappings), left, _expected(network))
