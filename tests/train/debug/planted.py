"""Layers that do harm, planted into a network."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Swollen(nn.Module):
    """Gives what the layer inside gives, times a factor."""

    def __init__(self, inside: nn.Module, factor: float) -> None:
        super().__init__()
        self.inside = inside
        self.factor = factor

    def forward(self, values: Tensor) -> Tensor:
        found: Tensor = self.inside(values) * self.factor
        return found


class SwollenBack(nn.Module):
    """Gives what the layer inside gives, but its gradient times 1e30, twice."""

    def __init__(self, inside: nn.Module) -> None:
        super().__init__()
        self.inside = inside

    def forward(self, values: Tensor) -> Tensor:
        found: Tensor = _Swell.apply(self.inside(values))
        return found


class _Swell(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        del ctx
        return values.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        del ctx
        return gradient * 1e30 * 1e30


def third_norm(network: nn.Module) -> str:
    """The name of a layer in the midst of every network."""
    norms = [n for n, module in network.named_modules() if "Norm" in type(module).__name__]
    return norms[2]


def plant(network: nn.Module, harm: type[nn.Module], *arguments: float) -> str:
    """Put the harm around the third batch norm; return the name it has now."""
    name = third_norm(network)
    network.set_submodule(name, harm(network.get_submodule(name), *arguments))
    return name
