"""Which operator first made a value that is beyond a limit, and in which layer.

Operators are seen below autograd and autocast, as the device runs them: forward, backward, and
the casts between number formats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.graph import Node
from torch.utils._python_dispatch import TorchDispatchMode

from trainferry.train.debug.layers import Layer, tensors_in
from trainferry.train.debug.sights import largest_value
from trainferry.train.debug.statistics import Statistics, describe_tensor

LOSS = Layer("(loss)", "task")

# They write what they are told, infinities too, or leave memory as it was.
_FILLING = (
    "empty",
    "new_empty",
    "full",
    "new_full",
    "fill",
    "constant_pad",
    "masked_fill",
    "where",
)


@dataclass(frozen=True)
class OperatorFinding:
    """An operator with all it was given and gave; `node` is its step of the backward pass."""

    operator: str
    direction: Literal["forward", "backward"]
    layer: Layer
    node: str | None
    inputs: tuple[Statistics, ...]
    outputs: tuple[Statistics, ...]


class LayerLabels:
    """Knows in which layer the program is, forward and, through autograd's graph, backward."""

    def __init__(self) -> None:
        self._inside: list[Layer] = []
        self._owner: dict[Node, Layer] = {}

    def enter(self, layer: Layer, inputs: Sequence[Tensor]) -> None:
        self._label(inputs, self._here())
        self._inside.append(layer)

    def leave(self, layer: Layer, outputs: Sequence[Tensor]) -> None:
        self._inside.pop()
        self._label(outputs, layer)

    def where(self) -> tuple[Literal["forward", "backward"], Layer, str | None]:
        """Return the direction, the layer, and in the backward pass its step."""
        node: Node | None = torch._C._current_autograd_node()
        if node is None:
            return "forward", self._here(), None
        return "backward", self._owner.get(node, LOSS), node.name()

    def _here(self) -> Layer:
        return self._inside[-1] if self._inside else LOSS

    def _label(self, tensors: Sequence[Tensor], layer: Layer) -> None:
        """Give the layer all steps behind the tensors that no layer inside it has."""
        waiting = [tensor.grad_fn for tensor in tensors]
        while waiting:
            node = waiting.pop()
            if node is not None and node not in self._owner:
                self._owner[node] = layer
                waiting += [before for before, _ in node.next_functions]


class OperatorSearch(TorchDispatchMode):
    """Keeps the first operator beyond the limit among those that run while `is_due` says so."""

    def __init__(self, labels: LayerLabels, limit: float, is_due: Callable[[], bool]) -> None:
        super().__init__()
        self.found: OperatorFinding | None = None
        self._labels = labels
        self._limit = limit
        self._is_due = is_due

    def __torch_dispatch__(  # torch's name
        self,
        func: Any,  # noqa: ANN401  # torch names no type
        types: Any,  # noqa: ANN401
        args: Any = (),  # noqa: ANN401
        kwargs: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        del types
        named = kwargs or {}
        name = func._schema.name.removeprefix("aten::")
        if self.found is not None or not self._is_due() or name.startswith(_FILLING):
            return func(*args, **named)
        given = list(tensors_in((args, named)))
        if func._schema.is_mutable:
            given = [tensor.clone() for tensor in given]
        result = func(*args, **named)
        made = list(tensors_in(result))
        direction, layer, node = self._labels.where()
        in_loss = layer == LOSS and direction == "forward"
        if any(self._is_beyond(tensor, in_loss=in_loss) for tensor in made):
            self.found = OperatorFinding(
                str(func),
                direction,
                layer,
                node,
                tuple(describe_tensor(tensor) for tensor in given),
                tuple(describe_tensor(tensor) for tensor in made),
            )
        return result

    def _is_beyond(self, tensor: Tensor, *, in_loss: bool) -> bool:
        if not tensor.is_floating_point() or not tensor.numel():
            return False
        if in_loss:
            # The logarithm of an impossible path is -inf, and meant.
            tensor = torch.where(tensor == -math.inf, 0.0, tensor)
        return is_beyond(float(largest_value(tensor)), self._limit)


def is_beyond(largest: float, limit: float) -> bool:
    """Tell whether the largest value is no number, infinite, or above the limit."""
    return not math.isfinite(largest) or largest > limit
