"""What `torch.export` says about one operation of a network, whichever version of torch it is."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.fx import Node

from trainferry.errors import ExportError

# How many samples a network is given when its operations are listed: a prime that no part of a
# network has as a size, so that sizes that come from the batch are known by it.
BATCH = 9973

# The same operation under the names that different versions and passes of torch give it.
CONVOLUTIONS = ("conv1d", "conv2d", "convolution")
NORMS = ("batch_norm", "_native_batch_norm_legit_no_training")
MAXIMA = ("max_pool2d", "max_pool2d_with_indices")
PADS = ("pad", "constant_pad_nd")


def operation_of(node: Node) -> str:
    """`aten.conv2d.default` is called conv2d; what is no ATen operation has no name."""
    if not isinstance(node.target, torch._ops.OpOverload) or node.target.namespace != "aten":
        return ""
    return node.target._schema.name.removeprefix("aten::")


def arguments_of(node: Node) -> dict[str, Any]:
    """Return the arguments by name, with the defaults of those that were left out."""
    assert isinstance(node.target, torch._ops.OpOverload)
    expected = node.target._schema.arguments
    defaults = {each.name: each.default_value for each in expected if each.has_default_value()}
    given = dict(zip((each.name for each in expected), node.args, strict=False))
    return {**defaults, **given, **node.kwargs}


def source_of(node: Node) -> Node:
    source = node.args[0]
    assert isinstance(source, Node)
    return source


def shape_of(node: Node) -> list[int]:
    """Return the sizes of a result for a single sample, in any batch."""
    return [of_one_sample(size) for size in node.meta["val"].shape]


def batch_axes_of(node: Node) -> list[int]:
    """Return the axes along which a result has as many places as there are samples, or more."""
    shape = node.meta["val"].shape
    return [axis for axis, size in enumerate(shape) if of_one_sample(size) != size]


def of_one_sample(size: int) -> int:
    return size // BATCH if size % BATCH == 0 else size


def pad_value_of(node: Node) -> float:
    return float(arguments_of(node)["value"] or 0)


def is_part_of_next(node: Node) -> bool:
    """Say whether the only node that uses this one does its work too."""
    if len(node.users) != 1:
        return False
    (user,) = node.users
    kind, next_kind = operation_of(node), operation_of(user)
    if kind in CONVOLUTIONS:
        return next_kind in NORMS
    if kind not in PADS or len(arguments_of(node)["pad"]) != 4:
        return False
    if arguments_of(node).get("mode", "constant") != "constant":
        return False
    value = pad_value_of(node)
    return (value == 0 and next_kind in CONVOLUTIONS) or (
        value == -math.inf and next_kind in MAXIMA
    )


def refused(node: Node, reason: str) -> ExportError:
    called = operation_of(node) or str(node.target)
    return ExportError(
        f"the operation `{called}` ({node.name}) cannot be exported: {reason}",
        hint="export another network; those of the recipes that come with trainferry can all be",
    )
