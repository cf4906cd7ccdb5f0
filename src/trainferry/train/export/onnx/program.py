"""Any network of pictures as an ONNX graph, from the list of its operations.

`torch.export` lists the operations of any network, of whatever size, with all sizes known; each
of those that our networks use becomes one ONNX node, or few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.fx import Node

from trainferry.errors import ExportError
from trainferry.train.export.onnx.aten import BATCH
from trainferry.train.export.onnx.builder import GraphBuilder
from trainferry.train.export.onnx.operations import OPERATIONS
from trainferry.train.export.onnx.writer import OperationWriter

if TYPE_CHECKING:
    from onnx import ModelProto
    from torch.export import ExportedProgram


@dataclass(frozen=True)
class Input:
    """The pictures that come in: bytes, B H W 3; mean and deviation are of red, green, blue."""

    height: int
    width: int
    mean: Sequence[float]
    deviation: Sequence[float]


def build_program(
    network: nn.Module, name: str, pictures: Input, outputs: Sequence[str]
) -> ModelProto:
    """Return the network with the normalisation of its recipe, its results named as told."""
    if network.training:
        raise ExportError(
            "a network that still learns cannot be exported", hint="call `network.eval()` first"
        )
    program = list_operations(network, pictures.height, pictures.width)
    graph = GraphBuilder()
    (source,) = program.graph_signature.user_inputs
    nodes = {node.name: node for node in program.graph.nodes}
    writer = OperationWriter(graph, OPERATIONS, _weights(program, nodes), nodes[str(source)])
    writer.names[writer.pictures] = _normalise(graph, pictures)
    for node in nodes.values():
        if node.op == "call_function":
            writer.write(node)
    shapes = {}
    for output, node in zip(outputs, nodes["output"].all_input_nodes, strict=True):
        graph.end(writer.input(node), output)
        shapes[output] = tuple(node.meta["val"].shape[1:])
    return graph.model(name, (pictures.height, pictures.width), shapes)


def list_operations(network: nn.Module, height: int, width: int) -> ExportedProgram:
    """Return what the network does to a batch of pictures.

    The batch has BATCH samples here, which take no memory, and any number in the file.
    """
    from torch.export import export

    example = torch.zeros(1, 3, height, width).expand(BATCH, -1, -1, -1)
    with torch.no_grad():
        return export(network, (example,), strict=False)


def _normalise(graph: GraphBuilder, pictures: Input) -> str:
    """Bytes B H W 3 to values B 3 H W, in the same operations as training uses."""
    values = graph.planes()
    mean, deviation = (
        np.array(each, np.float32).reshape(1, 3, 1, 1)
        for each in (pictures.mean, pictures.deviation)
    )
    values = graph.add("Sub", [values, graph.constant("picture.mean", mean)], "centred")
    if (deviation == 1).all():
        return values
    return graph.add("Div", [values, graph.constant("picture.deviation", deviation)], "normalised")


def _weights(program: ExportedProgram, nodes: dict[str, Node]) -> dict[Node, Tensor]:
    """Return all that the network has learnt or been given, and tell each where it is from."""
    signature = program.graph_signature
    places = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    # Buffers that are not saved with a network are not in its state.
    values = {**program.constants, **program.state_dict}
    for name, place in places.items():
        nodes[name].meta["path"] = place.removeprefix("network.")
    return {nodes[name]: values[place] for name, place in places.items()}
