"""Half-precision copies of the weights that convolutions compute with, all made at once.

Autocast would make them one by one, and bring gradients back one by one: two small programs for
each layer. Here one program makes all copies before a step, and one brings all gradients back.

On the way, networks whose layers work channel by channel between their convolutions get channels
of zeros where their numbers suit no device (18, 36): convolutions with them take about half as
long, and zeros stay zeros through norms, rectifiers and sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.func import functional_call

from trainferry.train.kernels.copies import Copies
from trainferry.train.kernels.rows import power_of_two

_EIGHT = 8  # channels that a device loads at once in half precision
_WORTH_IT = 1.1  # how many more channels a power of two may have


@runtime_checkable
class MayWiden(Protocol):
    """A network that computes the same with channels of zeros behind those of its branches."""

    may_widen: bool


class WorkingWeights:
    """The weights of a network as its convolutions take them while it trains."""

    def __init__(self, network: nn.Module, half: torch.dtype) -> None:
        self._network = network
        widens = isinstance(network, MayWiden) and network.may_widen
        self._weights = _Twins(_convolutions(network), kind=half, widens=widens)
        norms = list(_narrow_norms(network)) if widens else []
        self._norms = _Twins(_parts_of(norms, ("weight", "bias")))
        self._statistics = _Twins(_parts_of(norms, ("running_mean", "running_var")))

    def __call__(self, *inputs: Tensor) -> Tensor:
        """Let the network compute with copies of the weights it has now."""
        named: dict[str, Tensor] = {}
        for twins in (self._weights, self._norms, self._statistics):
            twins.refresh()
            named |= twins.copies
        outputs: Tensor = functional_call(self._network, named, inputs)
        return outputs

    def collect(self) -> None:
        """Bring gradients and moving statistics back to where others look for them."""
        self._weights.collect_gradients()
        self._norms.collect_gradients()
        self._statistics.collect()


class _Twins:
    """Tensors of a network and their copies, in another format and perhaps wider."""

    def __init__(
        self, own: Mapping[str, Tensor], *, kind: torch.dtype | None = None, widens: bool = True
    ) -> None:
        self._own = dict(own)
        self.copies = {name: _twin(tensor, kind, widens) for name, tensor in self._own.items()}
        self._out, self._back = Copies(), Copies()

    def refresh(self) -> None:
        for copy in self.copies.values():
            copy.grad = None
        self._out([*self._own.values()], [*self.copies.values()])

    def collect(self) -> None:
        self._back([*self.copies.values()], [*self._own.values()])

    def collect_gradients(self) -> None:
        """Make gradients only now: before, the memory is needed for what the network keeps."""
        sources, goals = [], []
        for name, own in self._own.items():
            if not own.requires_grad:
                continue
            gradient = self.copies[name].grad
            if gradient is None:
                raise RuntimeError(f"`{name}` got no gradient")
            sources.append(_laid_out_like(own, gradient))
            own.grad = torch.empty_like(own)
            goals.append(own.grad)
        self._back(sources, goals)


def roomy(channels: int) -> int:
    """How many channels suit a device: a power of two if it is near, else a multiple of 8."""
    power = power_of_two(channels)
    return power if power <= _WORTH_IT * channels else -(-channels // _EIGHT) * _EIGHT


def _twin(tensor: Tensor, kind: torch.dtype | None, widens: bool) -> Tensor:
    shape = [*tensor.shape]
    if widens:
        # A picture has three channels, and nobody gives it more.
        shape[:2] = [size if size < _EIGHT else roomy(size) for size in shape[:2]]
    twin = torch.zeros(shape, dtype=kind or tensor.dtype, device=tensor.device)
    return _laid_out_like(tensor, twin).requires_grad_(tensor.requires_grad)


def _laid_out_like(other: Tensor, tensor: Tensor) -> Tensor:
    if other.is_contiguous():
        return tensor.contiguous()
    return tensor.contiguous(memory_format=torch.channels_last)


def _convolutions(network: nn.Module) -> dict[str, Tensor]:
    return _parts_of(
        ((name, each) for name, each in network.named_modules() if isinstance(each, nn.Conv2d)),
        ("weight",),
    )


def _narrow_norms(network: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    for name, module in network.named_modules():
        if isinstance(module, nn.BatchNorm2d) and roomy(module.num_features) > module.num_features:
            yield name, module


def _parts_of(modules: Any, parts: tuple[str, ...]) -> dict[str, Tensor]:  # noqa: ANN401
    return {f"{name}.{part}": getattr(module, part) for name, module in modules for part in parts}
