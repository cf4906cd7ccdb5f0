"""One ONNX node for each operation with which networks see pictures.

Batch normalisation is folded into a convolution before it that nobody else listens to, and
padding into the convolution or the maximum behind it. What is not in the table of operations is
refused, never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch.fx import Node

from trainferry.train.export.onnx.aten import (
    CONVOLUTIONS,
    MAXIMA,
    NORMS,
    PADS,
    arguments_of,
    pad_value_of,
    refused,
    shape_of,
    source_of,
)
from trainferry.train.export.onnx.builder import Norm, Values, fold_norm
from trainferry.train.export.onnx.step_operations import STEP_OPERATIONS
from trainferry.train.export.onnx.writer import OperationWriter, Write


def _write_convolution(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    weights = writer.weight(arguments["weight"]), writer.value(arguments["bias"])
    return _convolve(writer, node, weights, output)


def _write_norm(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    if arguments.get("training"):
        raise refused(node, "it takes its statistics from the batch")
    norm = Norm(
        scale=writer.weight(arguments["weight"]),
        shift=writer.weight(arguments["bias"]),
        mean=writer.weight(arguments["running_mean"]),
        variance=writer.weight(arguments["running_var"]),
        epsilon=arguments["eps"],
    )
    before = source_of(node)
    if before not in writer.names:
        convolution = arguments_of(before)
        weight, bias = writer.weight(convolution["weight"]), writer.value(convolution["bias"])
        return _convolve(writer, before, fold_norm(weight, bias, norm), output)
    constants = [
        writer.graph.constant(f"{output}.{name}", values)
        for name, values in norm._asdict().items()
        if name != "epsilon"
    ]
    inputs = [writer.input(before), *constants]
    return writer.graph.add("BatchNormalization", inputs, output, epsilon=norm.epsilon)


def _convolve(
    writer: OperationWriter, node: Node, weights: tuple[Values, Values | None], output: str
) -> str:
    arguments = arguments_of(node)
    if arguments.get("transposed"):
        raise refused(node, "transposed convolutions are not written")
    values, padding = writer.padded_input(source_of(node))
    axes = weights[0].ndim - 2
    inputs = [values] + [
        writer.graph.constant(f"{output}.{name}", part)
        for name, part in zip(("weight", "bias"), weights, strict=True)
        if part is not None
    ]
    return writer.graph.add(
        "Conv",
        inputs,
        output,
        kernel_shape=list(weights[0].shape[2:]),
        strides=_pair(arguments["stride"])[:axes],
        pads=_with_own(padding, arguments["padding"])[: 2 * axes],
        dilations=_pair(arguments["dilation"])[:axes],
        group=arguments["groups"],
    )


def _write_maximum(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    values, padding = writer.padded_input(source_of(node))
    kernel = _pair(arguments["kernel_size"])
    return writer.graph.add(
        "MaxPool",
        [values],
        output,
        kernel_shape=kernel,
        strides=_pair(arguments["stride"] or kernel),
        pads=_with_own(padding, arguments["padding"]),
        dilations=_pair(arguments["dilation"]),
        ceil_mode=int(arguments["ceil_mode"]),
    )


def _write_average(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    if arguments["divisor_override"] is not None:
        raise refused(node, "averages with a divisor of their own are not written")
    kernel = _pair(arguments["kernel_size"])
    return writer.graph.add(
        "AveragePool",
        [writer.input(source_of(node))],
        output,
        kernel_shape=kernel,
        strides=_pair(arguments["stride"] or kernel),
        pads=_with_own([0, 0, 0, 0], arguments["padding"]),
        ceil_mode=int(arguments["ceil_mode"]),
        count_include_pad=int(arguments["count_include_pad"]),
    )


def _write_pad(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    if arguments.get("mode", "constant") != "constant" or len(arguments["pad"]) != 4:
        raise refused(node, "only constant padding of height and width is written")
    left, right, top, bottom = arguments["pad"]
    pads = np.array([0, 0, top, left, 0, 0, bottom, right], np.int64)
    inputs = [
        writer.input(source_of(node)),
        writer.graph.constant(f"{output}.pads", pads),
        writer.graph.constant(f"{output}.value", np.array(pad_value_of(node), np.float32)),
    ]
    return writer.graph.add("Pad", inputs, output, mode="constant")


def _write_sum(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    other = arguments["other"]
    if arguments["alpha"] != 1 or not isinstance(other, Node):
        raise refused(node, "only plain sums of two maps are written")
    inputs = [writer.compact_input(each) for each in (source_of(node), other)]
    return writer.graph.add("Add", inputs, output)


def _write_relu(writer: OperationWriter, node: Node, output: str) -> str:
    return writer.graph.add("Relu", [writer.input(source_of(node))], output)


def _write_concatenation(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    inputs = [writer.input(each) for each in arguments["tensors"]]
    return writer.graph.add("Concat", inputs, output, axis=arguments["dim"])


def _write_mean(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    return writer.graph.add(
        "ReduceMean",
        [writer.input(source_of(node))],
        output,
        axes=list(arguments["dim"]),
        keepdims=int(arguments["keepdim"]),
    )


def _write_linear(writer: OperationWriter, node: Node, output: str) -> str:
    arguments = arguments_of(node)
    values, weight, bias = (arguments[name] for name in ("input", "weight", "bias"))
    if len(shape_of(values)) != 2:
        turned = writer.graph.constant(f"{output}.weight", writer.weight(weight).T)
        product = output if bias is None else f"{output}.product"
        writer.graph.add("MatMul", [writer.input(values), turned], product)
        if bias is None:
            return product
        inputs = [product, writer.parameter(bias, f"{output}.bias")]
        return writer.graph.add("Add", inputs, output)
    inputs = [writer.input(values), writer.parameter(weight, f"{output}.weight")]
    if bias is not None:
        inputs.append(writer.parameter(bias, f"{output}.bias"))
    return writer.graph.add("Gemm", inputs, output, transB=1)


def _write_enlargement(writer: OperationWriter, node: Node, output: str) -> str:
    """Repeat every value; pixel i of the result is pixel floor(i / factor) of the source."""
    source = source_of(node)
    before, after = (each.meta["val"].shape[-2:] for each in (source, node))
    factors = [new / old for old, new in zip(before, after, strict=True)]
    if any(factor != int(factor) for factor in factors):
        raise refused(node, f"maps of {tuple(before)} do not fit into {tuple(after)}")
    scales = writer.graph.constant(f"{output}.scales", np.array([1, 1, *factors], np.float32))
    return writer.graph.add(
        "Resize",
        [writer.input(source), "", scales],
        output,
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )


OPERATIONS: dict[str, Write] = {
    **STEP_OPERATIONS,
    **dict.fromkeys(CONVOLUTIONS, _write_convolution),
    **dict.fromkeys(NORMS, _write_norm),
    **dict.fromkeys(MAXIMA, _write_maximum),
    **dict.fromkeys(PADS, _write_pad),
    "avg_pool2d": _write_average,
    "relu": _write_relu,
    "relu_": _write_relu,
    "add": _write_sum,
    "add_": _write_sum,
    "cat": _write_concatenation,
    "mean": _write_mean,
    "linear": _write_linear,
    "upsample_nearest2d": _write_enlargement,
}


def _pair(values: int | Sequence[int]) -> list[int]:
    both = [values] if isinstance(values, int) else list(values)
    return both * 2 if len(both) == 1 else both


def _with_own(padding: Sequence[int], own: int | Sequence[int]) -> list[int]:
    """Add padding that is the same on both sides to top, left, bottom, right."""
    return [one + other for one, other in zip(padding, _pair(own) * 2, strict=True)]
