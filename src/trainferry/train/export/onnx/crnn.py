"""CRNN as an ONNX graph, written from its weights.

The graph is written by hand because PyTorch's exporter cuts every LSTM weight into slices
(42 of them), warns about its own handling of LSTMs, and takes 15 seconds; this takes none.
Batch normalisation is folded into the convolutions before it, computed in float64.

Shapes: B pictures, W pixels wide, T = W/4 columns, K classes (blank is the last).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from torch import nn

from trainferry.train.export.onnx.builder import (
    OUTPUT,
    GraphBuilder,
    Norm,
    Values,
    fold_norm,
    values_of,
)
from trainferry.train.networks.crnn import CRNN, HEIGHT, columns_of
from trainferry.train.recipe.tasks import WordPicture

if TYPE_CHECKING:
    from onnx import ModelProto


def build_crnn(network: CRNN, picture: WordPicture) -> ModelProto:
    """Return the network with all that happens to a picture after it was resized.

    The input is bytes, B H W 3, always RGB; the output is class scores, B T K.
    """
    graph = GraphBuilder()
    values = _normalise(graph, picture)
    features = _convolve(graph, network.convolutions, values, picture)
    read = _read(graph, network.recurrence, features)
    weight = values_of(network.classifier.weight).T
    graph.add("MatMul", [read, graph.constant("classifier", weight)], OUTPUT)
    scores = (columns_of(picture.width), weight.shape[1])
    return graph.model("crnn", (HEIGHT, picture.width), {OUTPUT: scores})


def _normalise(graph: GraphBuilder, picture: WordPicture) -> str:
    """Bytes B H W 3 to values B 3 H W, in the same operations as training uses."""
    planes = graph.planes()
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


def _convolve(graph: GraphBuilder, layers: nn.Module, x: str, picture: WordPicture) -> str:
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
    mean, variance = (values_of(norm.get_buffer(f"running_{name}")) for name in ("mean", "var"))
    bias = None if convolution.bias is None else values_of(convolution.bias)
    folded = Norm(values_of(norm.weight), values_of(norm.bias), mean, variance, norm.eps)
    return fold_norm(values_of(convolution.weight), bias, folded)


def _read(graph: GraphBuilder, recurrence: nn.LSTM, x: str) -> str:
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


def _lstm_constant(graph: GraphBuilder, recurrence: nn.LSTM, layer: int, part: str) -> str:
    """Return weights (W), recurrent weights (R) or biases (B) of both directions, as ONNX wants."""
    names = {"W": ["weight_ih"], "R": ["weight_hh"], "B": ["bias_ih", "bias_hh"]}[part]
    directions = [
        np.concatenate(
            [_to_iofc(values_of(getattr(recurrence, f"{name}_l{layer}{way}"))) for name in names]
        )
        for way in ("", "_reverse")
    ]
    return graph.constant(f"lstm{layer}.{part}", np.stack(directions))


def _to_iofc(weights: Values) -> Values:
    """PyTorch stacks the gates i, f, g, o; ONNX i, o, f, c, where c is g."""
    i, f, g, o = np.split(weights, 4)
    return np.concatenate([i, o, f, g])
