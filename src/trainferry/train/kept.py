"""Copies of tensors and the way back to them, decided on the device without asking it."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor


class Kept:
    """The values that tensors have now; `restore_if` gives them back."""

    @torch.no_grad()
    def __init__(self, tensors: Iterable[Tensor]) -> None:
        kinds: dict[tuple[torch.dtype, torch.device], list[Tensor]] = {}
        for tensor in tensors:
            kinds.setdefault((tensor.dtype, tensor.device), []).append(tensor)
        # One long tensor of each kind: a network has hundreds of small ones.
        self._before = [(own, _joined(own)) for own in kinds.values()]

    @torch.no_grad()
    def restore_if(self, lost: Tensor) -> None:
        for own, before in self._before:
            chosen = torch.where(lost, before, _joined(own))
            parts = chosen.split([tensor.numel() for tensor in own])
            shaped = [part.view(each.shape) for part, each in zip(parts, own, strict=True)]
            torch._foreach_copy_(own, shaped)


def _joined(tensors: list[Tensor]) -> Tensor:
    return torch.cat([tensor.reshape(-1) for tensor in tensors])
