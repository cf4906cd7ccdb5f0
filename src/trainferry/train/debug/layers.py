"""The layers of a network by name, and hooks that see what goes in and out of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Protocol

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

WHOLE = "(network)"


@dataclass(frozen=True)
class Layer:
    """A module of the network; `WHOLE` is the network itself."""

    name: str
    kind: str

    def __str__(self) -> str:
        return f"`{self.name}` ({self.kind})"


class Visitor(Protocol):
    """Sees a layer before and after its forward pass."""

    def enter(self, layer: Layer, inputs: Sequence[Tensor]) -> None:
        """The layer begins."""

    def leave(self, layer: Layer, outputs: Sequence[Tensor]) -> None:
        """The layer is done; what is around it may change its outputs in place later."""


def name_layers(network: nn.Module) -> dict[nn.Module, Layer]:
    """Return every module with its name, in the order in which they were made."""
    return {
        module: Layer(name or WHOLE, _kind_of(module)) for name, module in network.named_modules()
    }


def visit_layers(network: nn.Module, visitor: Visitor) -> list[RemovableHandle]:
    """Let the visitor see every layer until the handles are removed."""
    handles: list[RemovableHandle] = []
    for module, layer in name_layers(network).items():
        handles += [
            module.register_forward_pre_hook(_entering(visitor, layer), with_kwargs=True),
            module.register_forward_hook(_leaving(visitor, layer)),
        ]
    return handles


def tensors_in(value: Any) -> Iterator[Tensor]:  # noqa: ANN401  # whatever a layer takes or gives
    """Yield the tensors in nested tuples, lists, dictionaries and dataclasses."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from tensors_in(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from tensors_in(part)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from tensors_in(getattr(value, field.name))


def _kind_of(module: nn.Module) -> str:
    """Return torch's name for what it is; some of ours add up in another way, under that name."""
    containers = (nn.Module, nn.Sequential)
    layers = [
        kind
        for kind in type(module).__mro__
        if kind.__module__.startswith("torch.nn.") and kind not in containers
    ]
    return (layers or [type(module)])[0].__name__


def _entering(visitor: Visitor, layer: Layer) -> Any:  # noqa: ANN401  # torch names no type
    def hook(_module: nn.Module, inputs: Any, named: Any) -> None:  # noqa: ANN401
        visitor.enter(layer, list(tensors_in((inputs, named))))

    return hook


def _leaving(visitor: Visitor, layer: Layer) -> Any:  # noqa: ANN401  # torch names no type
    def hook(_module: nn.Module, _inputs: Any, outputs: Any) -> None:  # noqa: ANN401
        visitor.leave(layer, list(tensors_in(outputs)))

    return hook
