"""Operations of a network become nodes of an ONNX file, one after the other.

What does not depend on the pictures is computed here, by torch, and becomes a constant. So does
what is only repeated for every sample of a batch: it has one place where others have the batch.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.fx import Node
from torch.fx.node import map_aggregate

from trainferry.train.export.onnx.aten import (
    CONVOLUTIONS,
    NORMS,
    PADS,
    arguments_of,
    batch_axes_of,
    is_part_of_next,
    of_one_sample,
    operation_of,
    refused,
    shape_of,
    source_of,
)
from trainferry.train.export.onnx.builder import GraphBuilder, Values, values_of

# What the result of a node is called in the file, or those of a node with several.
Written: TypeAlias = str | list[str]
Write: TypeAlias = Callable[["OperationWriter", Node, str], Written]

_LAYERS = (*CONVOLUTIONS, *NORMS, "linear")
# These take no values of their input, only its shape.
_FILLS = ("zeros_like",)


@dataclass
class OperationWriter:
    """Writes operations as nodes; `names` says what the result of each is called in the file.

    `constants` are the weights at first; `pictures` is the input of the network.
    """

    graph: GraphBuilder
    operations: Mapping[str, Write]
    constants: dict[Node, Any]
    pictures: Node
    names: dict[Node, str] = field(default_factory=dict)
    parts: dict[Node, list[str]] = field(default_factory=dict)
    whole: dict[Node, str] = field(default_factory=dict)

    def write(self, node: Node) -> None:
        if all(operation_of(user) in _FILLS for user in node.users):
            return
        if operation_of(node) in _FILLS:
            self.constants[node] = torch.zeros(shape_of(node), dtype=node.meta["val"].dtype)
        elif all(each in self.constants for each in node.all_input_nodes):
            self.constants[node] = self._compute(node)
        elif node.target is operator.getitem:
            self._take_part(node)
        elif not is_part_of_next(node):
            write = self.operations.get(operation_of(node))
            if write is None:
                raise refused(node, "there is no ONNX node for it yet")
            written = write(self, node, self._name(node))
            if isinstance(written, str):
                self.names[node] = written
            else:
                self.parts[node] = written

    def input(self, node: Node) -> str:
        """Return values that have their full shape."""
        if node not in self.constants or not batch_axes_of(node):
            return self.compact_input(node)
        if node not in self.whole:
            zeros = self._zeros_for_each_sample(node)
            name = f"{self.compact_input(node)}.each"
            self.whole[node] = self.graph.add("Add", [self.compact_input(node), zeros], name)
        return self.whole[node]

    def compact_input(self, node: Node) -> str:
        """Return values that may be one for all samples, for nodes that repeat such by themselves.

        Others of their inputs must have the full shape.
        """
        if node in self.constants:
            return self.parameter(node, self._name(node))
        return self.names[node]

    def padded_input(self, node: Node) -> tuple[str, list[int]]:
        """Return the input, and the padding before that is done here: top, left, bottom, right."""
        if operation_of(node) in PADS and node not in self.names:
            left, right, top, bottom = arguments_of(node)["pad"]
            return self.input(source_of(node)), [top, left, bottom, right]
        return self.input(node), [0, 0, 0, 0]

    def parameter(self, node: Node, name: str) -> str:
        """Return a constant, under this name unless it has one already."""
        if node not in self.names:
            self.names[node] = self.graph.constant(name, self.weight(node))
        return self.names[node]

    def value(self, node: Node | None) -> Values | None:
        return None if node is None else self.weight(node)

    def weight(self, node: Node) -> Values:
        if node not in self.constants:
            raise refused(node, "it gives weights that depend on the pictures")
        return values_of(self.constants[node])

    def integers(self, values: Sequence[int]) -> str:
        """Return whole numbers that many nodes may share."""
        name = f"integers.{'_'.join(map(str, values))}"
        if name in self.graph.names:
            return name
        return self.graph.constant(name, np.array(values, np.int64))

    def number(self, value: float) -> str:
        name = f"number.{value}"
        if name in self.graph.names:
            return name
        return self.graph.constant(name, np.array(value, np.float32))

    def _compute(self, node: Node) -> Any:  # noqa: ANN401  # a tensor, several, or nothing
        """Run the operation for a single sample."""
        assert callable(node.target)
        arguments, options = map_aggregate((node.args, node.kwargs), self._known)  # type: ignore[arg-type]  # a pair as before
        with torch.no_grad():
            return node.target(*arguments, **options)

    def _known(self, argument: object) -> object:
        if isinstance(argument, Node):
            value = self.constants[argument]
            return value.clone() if isinstance(value, Tensor) else value
        if isinstance(argument, int) and not isinstance(argument, bool):
            return of_one_sample(argument)
        return argument

    def _zeros_for_each_sample(self, node: Node) -> str:
        """Return a zero for each sample, along the axis where `node` has the batch."""
        axes, shape = batch_axes_of(node), shape_of(node)
        if len(axes) != 1 or shape[axes[0]] != 1:
            raise refused(node, "it mixes the batch with another size")
        name = f"zeros.{axes[0]}_of_{len(shape)}"
        if name in self.graph.names:
            return name
        return self.graph.add("Reshape", [self._zeros(), self._shape_for(node)], name)

    def _zeros(self) -> str:
        """Return a zero for each sample, B 1 1 1, for which the size need not be known."""
        if "zeros" in self.graph.names:
            return "zeros"
        ends = [self.integers(each) for each in ([0, 0, 0], [1, 1, 1], [1, 2, 3])]
        corner = self.graph.add("Slice", [self.names[self.pictures], *ends], "corner")
        return self.graph.add("Mul", [corner, self.number(0)], "zeros")

    def _shape_for(self, node: Node) -> str:
        axes = batch_axes_of(node)
        return self.integers([-1 if axis in axes else 1 for axis in range(len(shape_of(node)))])

    def _take_part(self, node: Node) -> None:
        """Some operations have several results, and others also one that only training needs."""
        whole, place = node.args
        assert isinstance(whole, Node)
        assert isinstance(place, int)
        if whole in self.parts:
            self.names[node] = self.parts[whole][place]
        elif place == 0:
            self.names[node] = self.names[whole]
        else:
            raise refused(node, "only the first result of an operation is written")

    def _name(self, node: Node) -> str:
        """Call a layer as the network does, and what has no weights after the part it is in."""
        if node.op == "placeholder":
            return str(node.meta["path"])
        if operation_of(node) in NORMS and source_of(node) not in self.names:
            node = source_of(node)  # the convolution that this one is folded into
        stack = node.meta.get("nn_module_stack") or {"": ("", None)}
        part = list(stack.values())[-1][0].removeprefix("network").removeprefix(".")
        is_layer = operation_of(node) in _LAYERS and any(
            each.meta.get("path", "").rpartition(".")[0] == part for each in node.all_input_nodes
        )
        name = part if is_layer and part else f"{part}.{node.name}".removeprefix(".")
        return f"{name}.{node.name}" if name in self.graph.names else name
