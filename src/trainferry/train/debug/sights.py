"""The largest value of everything a step computes, layer by layer, in the order of time.

A step pays one reduction for each layer and each gradient; nothing waits for the device until
someone asks what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from trainferry.train.debug.layers import WHOLE, Layer, name_layers, visit_layers

Direction = Literal["input", "forward", "backward", "weight"]


@dataclass(frozen=True)
class Sight:
    """One tensor that was seen: the network's input, an output, or the gradient of one.

    `weight` names the weight of the layer whose gradient it is.
    """

    direction: Direction
    layer: Layer
    weight: str | None = None

    def __str__(self) -> str:
        match self.direction:
            case "input":
                return "the input of the network"
            case "forward":
                return f"the output of {self.layer}"
            case "backward":
                return f"the gradient of the output of {self.layer}"
            case "weight":
                return f"the gradient of `{self.weight}` of {self.layer}"


class Sights:
    """Watches a network while `active`, and keeps what was seen since the last `clear`."""

    def __init__(self, network: nn.Module) -> None:
        self.active = False
        self.seen: list[Sight] = []
        self._largest: list[Tensor] = []
        self._handles = [*visit_layers(network, self), *_visit_weights(network, self._see)]

    def enter(self, layer: Layer, inputs: Sequence[Tensor]) -> None:
        if layer.name == WHOLE:
            for tensor in inputs:
                self._see(Sight("input", layer), tensor)

    def leave(self, layer: Layer, outputs: Sequence[Tensor]) -> None:
        if not self.active:
            return
        for tensor in outputs:
            self._see(Sight("forward", layer), tensor)
            if tensor.requires_grad:
                tensor.register_hook(partial(self._see, Sight("backward", layer)))

    def clear(self) -> None:
        self.seen.clear()
        self._largest.clear()

    def largest(self) -> list[float]:
        """Return the largest absolute value of each sight, NaN where one is; waits once."""
        return torch.stack(self._largest).tolist() if self._largest else []

    def close(self) -> None:
        for handle in self._handles:
            handle.remove()

    @torch.no_grad()
    def _see(self, sight: Sight, tensor: Tensor | None) -> None:
        if tensor is None or not self.active:  # an output that nothing used has no gradient
            return
        if tensor.is_floating_point() and tensor.numel():
            self.seen.append(sight)
            self._largest.append(largest_value(tensor))


def largest_value(tensor: Tensor) -> Tensor:
    """Return the largest absolute value on the tensor's device, NaN if one is in it."""
    values = tensor.detach()
    # Three times as fast as with `abs`, and fifteen times as the maximum norm on a CPU.
    return torch.maximum(values.amax(), -values.amin()).float()


def _visit_weights(
    network: nn.Module, see: Callable[[Sight, Tensor], None]
) -> list[RemovableHandle]:
    handles = []
    for module, layer in name_layers(network).items():
        for name, weight in module.named_parameters(recurse=False):
            if weight.requires_grad:
                sight = Sight("weight", layer, name)
                handles.append(weight.register_post_accumulate_grad_hook(_grown(see, sight)))
    return handles


def _grown(see: Callable[[Sight, Tensor], None], sight: Sight) -> Callable[[Tensor], None]:
    def hook(weight: Tensor) -> None:
        if weight.grad is not None:
            see(sight, weight.grad)

    return hook
