"""ONNX nodes for the operations with which a text is read, character by character.

Sizes that come from the batch are never written down: a file is for batches of any size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch.fx import Node

from trainferry.train.export.onnx.aten import (
    arguments_of,
    batch_axes_of,
    refused,
    shape_of,
    source_of,
)
from trainferry.train.export.onnx.writer import OperationWriter, Write


def _write_parts(writer: OperationWriter, node: Node, output: str) -> list[str]:
    axis = _axis(node, arguments_of(node)["dim"])
    return _split(writer, node, axis, [part.shape[axis] for part in node.meta["val"]], output)


def _write_unbound(writer: OperationWriter, node: Node, output: str) -> list[str]:
    """Split, and drop the axis that then has one place."""
    axis = _axis(node, arguments_of(node)["dim"])
    return [
        writer.graph.add("Squeeze", [part, writer.integers([axis])], f"{part}.flat")
        for part in _split(writer, node, axis, [1] * len(node.meta["val"]), output)
    ]


def _write_chosen(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    axis = _axis(node, arguments["dim"])
    inputs = [writer.input(source_of(node)), writer.integers([arguments["index"]])]
    one = writer.graph.add("Gather", inputs, f"{output}.one", axis=axis)
    return writer.graph.add("Squeeze", [one, writer.integers([axis])], output)


def _write_slice(writer: OperationWriter, node: Node, output: str) -> str:
    source, arguments = source_of(node), arguments_of(node)
    if source.meta["val"].shape == node.meta["val"].shape:
        return writer.input(source)
    axis = _axis(node, arguments["dim"])
    bounds = (arguments["start"] or 0, arguments["end"], axis, arguments["step"])
    inputs = [writer.input(source), *(writer.integers([each]) for each in bounds)]
    return writer.graph.add("Slice", inputs, output)


def _write_reshape(writer: OperationWriter, node: Node, output: str) -> str:
    return _reshape(writer, writer.input(source_of(node)), node, output)


def _write_transpose(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    rank = len(shape_of(node))
    order = list(range(rank))
    if "dims" in arguments:
        order = [axis % rank for axis in arguments["dims"]]
    else:
        one, other = (arguments.get(name, axis) % rank for axis, name in enumerate(_AXES))
        order[one], order[other] = other, one
    return writer.graph.add("Transpose", [writer.input(source_of(node))], output, perm=order)


def _write_product(writer: OperationWriter, node: Node, output: str) -> str:
    one, other = node.args
    assert isinstance(one, Node)
    assert isinstance(other, Node)
    return writer.graph.add("MatMul", [writer.input(one), writer.input(other)], output)


def _write_softmax(writer: OperationWriter, node: Node, output: str) -> str:
    axis = arguments_of(node)["dim"]
    return writer.graph.add("Softmax", [writer.input(source_of(node))], output, axis=axis)


def _write_tanh(writer: OperationWriter, node: Node, output: str) -> str:
    return writer.graph.add("Tanh", [writer.input(source_of(node))], output)


def _write_sigmoid(writer: OperationWriter, node: Node, output: str) -> str:
    return writer.graph.add("Sigmoid", [writer.input(source_of(node))], output)


def _write_clamp(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    least, most = arguments["min"], arguments["max"]
    ends = (-math.inf if least is None else least, math.inf if most is None else most)
    inputs = [writer.input(source_of(node)), *(writer.number(end) for end in ends)]
    return writer.graph.add("Clip", inputs, output)


def _write_scaled(writer: OperationWriter, node: Node, output: str) -> str:
    other = arguments_of(node)["other"]
    if not isinstance(other, Node):
        raise refused(node, "only products of two maps are written")
    return writer.graph.add("Mul", _compact(writer, [source_of(node), other]), output)


def _write_scaled_sum(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    if arguments["value"] != 1:
        raise refused(node, "only plain sums and products are written")
    factors = _compact(writer, [arguments["tensor1"], arguments["tensor2"]])
    scaled = writer.graph.add("Mul", factors, f"{output}.scaled")
    return writer.graph.add("Add", [writer.compact_input(source_of(node)), scaled], output)


def _write_best(writer: OperationWriter, node: Node, output: str) -> str:
    """Of equal values the first, as torch has it."""
    arguments = arguments_of(node)
    if arguments["dim"] is None:
        raise refused(node, "it looks for the largest value of all samples")
    return writer.graph.add(
        "ArgMax",
        [writer.input(source_of(node))],
        output,
        axis=_axis(node, arguments["dim"]),
        keepdims=int(arguments["keepdim"]),
    )


def _write_lookup(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    inputs = [writer.input(arguments["weight"]), writer.input(arguments["indices"])]
    return writer.graph.add("Gather", inputs, output)


def _write_stack(writer: OperationWriter, node: Node, output: str) -> str:
    """Behind each other along an axis, which is then cut into two."""
    arguments = arguments_of(node)
    axis, rank = arguments["dim"] % len(shape_of(node)), len(shape_of(node)) - 1
    if axis == rank or axis in batch_axes_of(arguments["tensors"][0]):
        raise refused(node, "only what has another axis behind is stacked")
    inputs = [writer.input(each) for each in arguments["tensors"]]
    joined = writer.graph.add("Concat", inputs, f"{output}.joined", axis=axis)
    return _reshape(writer, joined, node, output)


STEP_OPERATIONS: dict[str, Write] = {
    **dict.fromkeys(("chunk", "split", "split_with_sizes"), _write_parts),
    "unbind": _write_unbound,
    "select": _write_chosen,
    "slice": _write_slice,
    **dict.fromkeys(
        ("view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze"), _write_reshape
    ),
    **dict.fromkeys(("permute", "transpose", "t"), _write_transpose),
    **dict.fromkeys(("matmul", "mm", "bmm"), _write_product),
    "softmax": _write_softmax,
    "tanh": _write_tanh,
    "sigmoid": _write_sigmoid,
    "clamp": _write_clamp,
    "mul": _write_scaled,
    "addcmul": _write_scaled_sum,
    "argmax": _write_best,
    "embedding": _write_lookup,
    "stack": _write_stack,
}

_AXES = ("dim0", "dim1")


def _axis(node: Node, axis: int) -> int:
    """Return an axis of the input, counted from the first; the batch cannot be taken apart."""
    source = source_of(node)
    axis %= len(shape_of(source))
    if axis in batch_axes_of(source):
        raise refused(node, "it depends on the size of the batch")
    return axis


def _split(
    writer: OperationWriter, node: Node, axis: int, sizes: Sequence[int], output: str
) -> list[str]:
    outputs = [f"{output}.{number}" for number in range(len(sizes))]
    inputs = [writer.input(source_of(node)), writer.integers(sizes)]
    return writer.graph.add_parts("Split", inputs, outputs, axis=axis)


def _reshape(writer: OperationWriter, values: str, node: Node, output: str) -> str:
    axes = batch_axes_of(node)
    if len(axes) > 1:
        raise refused(node, "it mixes the batch with another size")
    sizes = [-1 if axis in axes else size for axis, size in enumerate(shape_of(node))]
    return writer.graph.add("Reshape", [values, writer.integers(sizes)], output)


def _compact(writer: OperationWriter, nodes: Sequence[Node]) -> list[str]:
    return [writer.compact_input(each) for each in nodes]
