"""CRNN as an ONNX graph, written from its weights.

The graph is written by hand because PyTorch's exporter cuts every LSTM weight into slices
(42 of them), warns about its own handling of LSTMs, and takes 15 seconds; this takes none.
Batch normalisation is folded into the convolutions before it, computed in float64.

Shapes: B pictures, W pixels wide, T = W/4 columns, K classes (blank is the last).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from trainferry.errors import ExportError, MissingPackageError
from trainferry.train.networks.crnn import CRNN, HEIGHT, columns_of
from trainferry.train.recipe_sections import PictureRecipe

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

# Old enough for the compilers of devices (ATC reads up to 15), new enough for all that is needed.
OPSET = 15
IR_VERSION = 8
INPUT = "pictures"
OUTPUT = "logits"

Values = NDArray[Any]


def build_graph(network: nn.Module, picture: PictureRecipe) -> ModelProto:
    """Return the network with all that happens to a picture after it was resized.

    The input is bytes, B H W 3, always RGB; the output is class scores, B T K.
    """
    if not isinstance(network, CRNN):
        raise ExportError(
            f"a network of the kind {type(network).__name__} cannot be exported yet",
            hint="export a CRNN",
        )
    graph = _Graph()
    values = _normalise(graph, picture)
    features = _convolve(graph, network.convolutions, values, picture)
    read = _read(graph, network.recurrence, features)
    weight = _array(network.classifier.weight).T
    graph.add("MatMul", [read, graph.constant("classifier", weight)], OUTPUT)
    return graph.model(picture.width, classes=weight.shape[1])


@dataclass
class _Graph:
    """Nodes and constants in the order in which they are added."""

    nodes: list[NodeProto] = field(default_factory=list)
    constants: dict[str, TensorProto] = field(default_factory=dict)

    def add(self, operator: str, inputs: Sequence[str], output: str, **attributes: object) -> str:
        node = _onnx().helper.make_node(operator, inputs, [output], name=output, **attributes)
        self.nodes.append(node)
        return output

    def constant(self, name: str, values: Values) -> str:
        contiguous = np.ascontiguousarray(values)
        self.constants[name] = _onnx().numpy_helper.from_array(contiguous, name)
        return name

    def model(self, width: int, classes: int) -> ModelProto:
        onnx = _onnx()
        helper, types = onnx.helper, onnx.TensorProto
        graph = helper.make_graph(
            self.nodes,
            "crnn",
            [helper.make_tensor_value_info(INPUT, types.UINT8, ["batch", HEIGHT, width, 3])],
            [
                helper.make_tensor_value_info(
                    OUTPUT, types.FLOAT, ["batch", columns_of(width), classes]
                )
            ],
            list(self.constants.values()),
        )
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def _normalise(graph: _Graph, picture: PictureRecipe) -> str:
    """Bytes B H W 3 to values B 3 H W, in the same operations as training uses."""
    cast = graph.add("Cast", [INPUT], "values", to=_onnx().TensorProto.FLOAT)
    planes = graph.add("Transpose", [cast], "planes", perm=[0, 3, 1, 2])
    if picture.scale == "unit":
        half = graph.constant("half_range", np.array([127.5], np.float32))
        scaled = graph.add("Div", [planes, half], "scaled")
        return graph.add(
            "Sub", [scaled, graph.constant("one", np.array([1], np.float32))], "normalised"
        )
    middle = graph.constant("middle", np.array([127.5], np.float32))
    centred = graph.add("Sub", [planes, middle], "centred")
    return graph.add(
        "Div", [centred, graph.constant("range", np.array([255], np.float32))], "normalised"
    )


def _convolve(graph: _Graph, layers: nn.Module, x: str, picture: PictureRecipe) -> str:
    """B 3 32 W to columns T B C; the pools are those of networks/crnn.py."""
    pools = {1: [2, 2], 2: [2, 2], 4: [2, 1], 6: [2, 1]}
    for number in range(1, 8):
        name = f"conv{number}"
        weight, bias = _fold(layers.get_submodule(name), layers.get_submodule(f"norm{number}"))
        if number == 1 and picture.order == "bgr":
            weight = weight[:, ::-1]  # the file takes RGB whatever the network was trained on
        inputs = [
            x,
            graph.constant(f"{name}.weight", weight),
            graph.constant(f"{name}.bias", bias),
        ]
        if number < 7:
            x = graph.add("Conv", inputs, name, pads=[1, 1, 1, 1])
        else:
            x = graph.add("Conv", inputs, name, pads=[0, 0, 0, 1], strides=[2, 1])
        x = graph.add("Relu", [x], f"relu{number}")
        if pool := pools.get(number):
            x = graph.add("MaxPool", [x], f"pool{number}", kernel_shape=pool, strides=pool)
    row = graph.constant("row", np.array([2], np.int64))
    flat = graph.add("Squeeze", [x, row], "columns")  # B C T
    return graph.add("Transpose", [flat], "columns_first", perm=[2, 0, 1])


def _fold(convolution: nn.Module, norm: nn.Module) -> tuple[Values, Values]:
    """Return weight and bias of a convolution that does what both do."""
    assert isinstance(convolution, nn.Conv2d)
    assert isinstance(norm, nn.BatchNorm2d)
    mean, variance = (_array(norm.get_buffer(f"running_{name}")) for name in ("mean", "var"))
    factor = _array(norm.weight).astype(np.float64) / np.sqrt(
        variance.astype(np.float64) + norm.eps
    )
    bias = 0.0 if convolution.bias is None else _array(convolution.bias).astype(np.float64)
    weight = _array(convolution.weight) * factor[:, None, None, None]
    shifted = (bias - mean) * factor + _array(norm.bias)
    return weight.astype(np.float32), shifted.astype(np.float32)


def _read(graph: _Graph, recurrence: nn.LSTM, x: str) -> str:
    """T B C to B T 2*hidden, one LSTM node per layer."""
    hidden = recurrence.hidden_size
    both = graph.constant("both_directions", np.array([0, 0, 2 * hidden], np.int64))
    for layer in range(recurrence.num_layers):
        name = f"lstm{layer}"
        inputs = [x, *(_lstm_constant(graph, recurrence, layer, part) for part in "WRB")]
        states = graph.add("LSTM", inputs, name, direction="bidirectional", hidden_size=hidden)
        last = layer == recurrence.num_layers - 1
        # T 2 B hidden; the next layer wants time first, the classifier the batch.
        order = [2, 0, 1, 3] if last else [0, 2, 1, 3]
        turned = graph.add("Transpose", [states], f"{name}.turned", perm=order)
        x = graph.add("Reshape", [turned, both], f"{name}.read")
    return x


def _lstm_constant(graph: _Graph, recurrence: nn.LSTM, layer: int, part: str) -> str:
    """Return weights (W), recurrent weights (R) or biases (B) of both directions, as ONNX wants."""
    names = {"W": ["weight_ih"], "R": ["weight_hh"], "B": ["bias_ih", "bias_hh"]}[part]
    directions = [
        np.concatenate(
            [_to_iofc(_array(getattr(recurrence, f"{name}_l{layer}{way}"))) for name in names]
        )
        for way in ("", "_reverse")
    ]
    return graph.constant(f"lstm{layer}.{part}", np.stack(directions))


def _to_iofc(weights: Values) -> Values:
    """PyTorch stacks the gates i, f, g, o; ONNX i, o, f, c, where c is g."""
    i, f, g, o = np.split(weights, 4)
    return np.concatenate([i, o, f, g])


def _array(values: nn.Parameter | Any) -> Values:  # noqa: ANN401  # parameters and buffers
    return np.asarray(values.detach().cpu().numpy())


def _onnx() -> Any:  # noqa: ANN401  # a module
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise MissingPackageError("onnx", "exporting") from None
    return onnx
