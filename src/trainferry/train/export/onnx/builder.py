"""Nodes and constants of an ONNX graph, added one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from trainferry.errors import MissingPackageError

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

# Old enough for the compilers of devices (ATC reads up to 15), new enough for all that is needed.
OPSET = 15
IR_VERSION = 8
INPUT = "pictures"
OUTPUT = "logits"
ATTENTION = "attention"

Values = NDArray[Any]


@dataclass
class GraphBuilder:
    """Nodes and constants in the order in which they are added."""

    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    names: set[str] = field(default_factory=lambda: {INPUT})

    def add(self, operator: str, inputs: Sequence[str], output: str, **attributes: object) -> str:
        self._take(output)
        node = load_onnx().helper.make_node(operator, inputs, [output], name=output, **attributes)
        self.nodes.append(node)
        return output

    def add_parts(
        self, operator: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: object
    ) -> list[str]:
        """Add a node with several results."""
        for output in outputs:
            self._take(output)
        name = outputs[0]
        node = load_onnx().helper.make_node(operator, inputs, outputs, name=name, **attributes)
        self.nodes.append(node)
        return list(outputs)

    def constant(self, name: str, values: Values) -> str:
        self._take(name)
        contiguous = np.ascontiguousarray(values).reshape(values.shape)  # a number stays one
        self.constants.append(load_onnx().numpy_helper.from_array(contiguous, name))
        return name

    def planes(self) -> str:
        """Bytes of the input, B H W 3, as float32, B 3 H W."""
        values = self.add("Cast", [INPUT], "values", to=load_onnx().TensorProto.FLOAT)
        return self.add("Transpose", [values], "planes", perm=[0, 3, 1, 2])

    def end(self, name: str, output: str = OUTPUT) -> None:
        """Make a result an output of the file; the node that gives it keeps its name."""
        for node in self.nodes:
            for places in (node.input, node.output):
                for number, each in enumerate(places):
                    if each == name:
                        places[number] = output

    def model(
        self, name: str, picture: tuple[int, int], outputs: Mapping[str, tuple[int, ...]]
    ) -> ModelProto:
        """Return a file that maps B pictures of a height and a width to B times each output."""
        onnx = load_onnx()
        helper, types = onnx.helper, onnx.TensorProto
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info(INPUT, types.UINT8, ["batch", *picture, 3])],
            [
                helper.make_tensor_value_info(output, types.FLOAT, ["batch", *sizes])
                for output, sizes in outputs.items()
            ],
            self.constants,
        )
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)

    def _take(self, name: str) -> None:
        assert name not in self.names, name
        self.names.add(name)


class Norm(NamedTuple):
    """What a batch normalisation does to values when it no longer learns."""

    scale: Values
    shift: Values
    mean: Values
    variance: Values
    epsilon: float


def fold_norm(weight: Values, bias: Values | None, norm: Norm) -> tuple[Values, Values]:
    """Return weight and bias of a convolution that also normalises, computed in float64."""
    scale, shift, mean, variance = (part.astype(np.float64) for part in norm[:4])
    factor = scale / np.sqrt(variance + norm.epsilon)
    before = 0.0 if bias is None else bias.astype(np.float64)
    folded = weight * factor[:, None, None, None]
    return folded.astype(np.float32), ((before - mean) * factor + shift).astype(np.float32)


def values_of(tensor: Tensor) -> Values:
    return np.asarray(tensor.detach().cpu().numpy())


def load_onnx() -> Any:  # noqa: ANN401  # a module
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise MissingPackageError("onnx", "exporting") from None
    return onnx
