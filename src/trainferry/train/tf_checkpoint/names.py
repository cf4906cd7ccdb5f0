"""The TensorFlow variables of every network we have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from trainferry.train.networks.resnet import Version
from trainferry.train.recipe.networks import (
    AttentionOCRRecipe,
    CRNNRecipe,
    DenseNetRecipe,
    HRNetRecipe,
    NetworkRecipe,
    ResNetRecipe,
)
from trainferry.train.tf_checkpoint import names_hrnet
from trainferry.train.tf_checkpoint.mapping import TensorMapping
from trainferry.train.tf_checkpoint.names_attention_ocr import attention_ocr_mappings
from trainferry.train.tf_checkpoint.names_crnn import Cells, crnn_mappings, find_cells
from trainferry.train.tf_checkpoint.names_densenet import debias_mappings, densenet_mappings
from trainferry.train.tf_checkpoint.names_hrnet import hrnet_mappings
from trainferry.train.tf_checkpoint.names_resnet import resnet_mappings


@dataclass(frozen=True)
class VariableNames:
    """What inference needs, what only training needs, and the scope of counters such as the step.

    A checkpoint may lack the state of training; `cells` are those of a CRNN.
    """

    needed: tuple[TensorMapping, ...]
    for_training: tuple[TensorMapping, ...] = ()
    scope: str = ""
    cells: Cells | None = None


def variable_names(network: NetworkRecipe, names: Iterable[str] = ()) -> VariableNames:
    """Return the variables of a network; `names` of a checkpoint tell the cells of a CRNN."""
    if isinstance(network, CRNNRecipe):
        cells = find_cells(list(names))
        return VariableNames(crnn_mappings(cells), cells=cells)
    if isinstance(network, ResNetRecipe):
        version = cast(Version, network.version)
        return VariableNames(resnet_mappings(network.size, version, network.variant))
    if isinstance(network, DenseNetRecipe):
        return VariableNames(densenet_mappings(network.size), debias_mappings(network.size))
    if isinstance(network, AttentionOCRRecipe):
        return VariableNames(attention_ocr_mappings(network.endpoint, network.attention))
    assert isinstance(network, HRNetRecipe)
    return VariableNames(hrnet_mappings(network.modules, network.blocks), scope=names_hrnet.SCOPE)
