"""A running average of the weights, which often scores better than the weights themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """Averages weights and statistics; young averages forget faster, as TensorFlow's do."""

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.decay = decay
        self._live = _floating_state(network)
        self.values = {name: tensor.detach().clone() for name, tensor in self._live.items()}

    def share(self, step: int) -> float:
        """How far the average moves towards the weights after update number `step`."""
        return 1 - min(self.decay, (1 + step) / (10 + step))

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after update number `step`."""
        averages, live = list(self.values.values()), list(self._live.values())
        torch._foreach_lerp_(averages, live, self.share(step))

    @torch.no_grad()
    def take_in(self, share: Tensor) -> None:
        """Take in the weights by a share that only the device knows, without asking for it."""
        averages, live = list(self.values.values()), list(self._live.values())
        moves = torch._foreach_sub(live, averages)
        torch._foreach_mul_(moves, share)
        torch._foreach_add_(averages, moves)

    @torch.no_grad()
    def restore(self, values: dict[str, Tensor]) -> None:
        for name, average in self.values.items():
            average.copy_(values[name])

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Let the network work with the average inside, whatever happens there."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        for name, average in self.values.items():
            live = self._live[name]
            kept = live.clone()
            live.copy_(average)
            average.copy_(kept)


def _floating_state(network: nn.Module) -> dict[str, Tensor]:
    """Return what a checkpoint keeps, as it is: constants that a network makes itself are none."""
    return {
        name: tensor for name, tensor in network.state_dict().items() if tensor.is_floating_point()
    }
