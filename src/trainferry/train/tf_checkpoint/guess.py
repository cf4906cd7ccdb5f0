"""Tells from its variables which network a checkpoint was saved from."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from trainferry.train.networks.inception_v3_parts import ENDPOINTS, convolutions_up_to
from trainferry.train.networks.sizes import DENSENET_LAYERS, RESNET_BLOCKS
from trainferry.train.recipe.networks import (
    AttentionOCRRecipe,
    CRNNRecipe,
    DenseNetRecipe,
    HRNetRecipe,
    NetworkRecipe,
    ResNetRecipe,
)
from trainferry.train.tf_checkpoint.names import variable_names
from trainferry.train.tf_checkpoint.read import TensorFlowCheckpoint

# A recipe of each network, which `--set` can change to another size.
_RECIPES: dict[str, NetworkRecipe] = {
    "crnn": CRNNRecipe(),
    "resnet50": ResNetRecipe(),
    "resnet50_zoo": ResNetRecipe(variant="zoo"),
    "densenet121": DenseNetRecipe(),
    "hrnet_w18": HRNetRecipe(),
    "attention_ocr": AttentionOCRRecipe(),
}

# The variable and dimension that show a size, where the names are the same for all sizes.
_SHOWN_BY = {
    "resnet50": {"width": ("resnet_model/conv2d/kernel", 3)},
    "resnet50_zoo": {"width": ("fp32_vars/conv2d/kernel", 3)},
    "densenet121": {"growth": ("conv2d_2/kernel", 3)},
    "hrnet_w18": {
        "width": ("HRNET/HR_FRONT/Conv_2/weights", 3),
        "head": ("HRNET/CLS_HEAD_DS0/Conv/weights", 2),
    },
}
_STATE = re.compile(
    r"/(Momentum|LARSOptimizer|ExponentialMovingAverage|Adam|Adam_1|RMSProp|RMSProp_1)$"
    r"|/(biased|local_step)$"
)


def guess_network(checkpoint: TensorFlowCheckpoint) -> NetworkRecipe | None:
    """Return the network whose variables these are, with its sizes; None if they are of no one."""
    names = {name for name in checkpoint.names() if not _STATE.search(name)}
    nearest: NetworkRecipe | None = None
    most = 0.5
    for network in _networks():
        wanted = {one.tensorflow for one in variable_names(network, names).needed}
        alike = len(wanted & names) / len(wanted | names)
        if alike > most:
            nearest, most = network, alike
    if nearest is None:
        return None
    sizes = _sizes(checkpoint, nearest)
    return dataclasses.replace(nearest, **sizes)  # type: ignore[arg-type]  # those its kind has


def nearest_recipe(network: NetworkRecipe) -> str:
    """Return the bundled recipe that differs from a network in its sizes alone."""
    if isinstance(network, ResNetRecipe) and network.variant == "zoo":
        return "resnet50_zoo"  # its pictures are cut and scaled in another way, too
    return next(name for name, usual in _RECIPES.items() if usual.name == network.name)


def usual_network(recipe: str) -> NetworkRecipe:
    return _RECIPES[recipe]


def describe_network(network: NetworkRecipe) -> str:
    """Name a network with the sizes that tell it from its like."""
    if isinstance(network, ResNetRecipe):
        text = f"a resnet of size {network.size} version {network.version}"
        return text + _unless_usual(network, "variant") + _unless_usual(network, "width")
    if isinstance(network, DenseNetRecipe):
        text = f"a densenet of size {network.size}" + _unless_usual(network, "variant")
        return text + _unless_usual(network, "growth")
    if isinstance(network, HRNetRecipe):
        return f"an hrnet of width {network.width}" + _unless_usual(network, "head")
    if isinstance(network, AttentionOCRRecipe):
        return f"an attention_ocr up to {network.endpoint}" + _unless_usual(network, "attention")
    return "a crnn"


def changes_between(recipe: NetworkRecipe, found: NetworkRecipe) -> dict[str, Any]:
    """Return what `--set network.…` must change for a recipe to become the network found.

    The sizes of a CRNN and the decay of statistics are in no name, and the tower of Attention-OCR
    may end behind a pooling, which has no variables.
    """
    if isinstance(found, CRNNRecipe):
        return {}
    if isinstance(found, AttentionOCRRecipe) and isinstance(recipe, AttentionOCRRecipe):
        ends = [list(convolutions_up_to(one.endpoint)) for one in (recipe, found)]
        shown = {"endpoint": found.endpoint} if ends[0] != ends[1] else {}
        same = found.attention == recipe.attention
        return shown if same else {**shown, "attention": found.attention}
    wanted = {name: value for name, value in vars(found).items() if name != "norm_decay"}
    return {name: value for name, value in wanted.items() if value != getattr(recipe, name)}


def _networks() -> Iterator[NetworkRecipe]:
    yield CRNNRecipe()
    for size in RESNET_BLOCKS:
        yield from (ResNetRecipe(size=size, version=version) for version in (1, 2))
        if size >= 50:
            yield ResNetRecipe(size=size, variant="zoo")
    yield from (DenseNetRecipe(size=size) for size in DENSENET_LAYERS)
    yield HRNetRecipe()
    for endpoint in ENDPOINTS:
        for attention in (True, False):
            yield AttentionOCRRecipe(endpoint=endpoint, attention=attention)


def _sizes(checkpoint: TensorFlowCheckpoint, network: NetworkRecipe) -> dict[str, int]:
    sizes = {}
    for size, (name, dimension) in _SHOWN_BY.get(nearest_recipe(network), {}).items():
        if name in checkpoint and len(checkpoint.shape(name)) > dimension:
            sizes[size] = checkpoint.shape(name)[dimension]
    return sizes


def _unless_usual(network: NetworkRecipe, size: str) -> str:
    value = getattr(network, size)
    return "" if value == getattr(type(network)(), size) else f", {size} {value}"
