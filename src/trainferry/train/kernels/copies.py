"""Many small copies between tables of numbers, all by one program; multiples, where asked.

A network has hundreds of weights; starting a copy of each takes longer than copying. `Copies`
tells one program the places of all of them.

A tensor is a table of the rows that it has in memory: a weight O I H W, channels last, of rows of
I numbers. Of two tables the smaller decides how much is copied.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from trainferry.devices.capture import is_recording
from trainferry.devices.kernels import runs_kernels

_VALUES = 2048  # of one program
_ALIGNMENT = 16  # bytes


class Copies:
    """Copies tensors of shapes that stay; the tensors may be others each time, but of one device.

    Sources have one number format, and so have goals. All are 1-D, or 4-D and channels last.
    """

    def __init__(self) -> None:
        self._jobs: Tensor | None = None
        self._facts = torch.empty(0)
        self._there = torch.empty(0)

    @torch.no_grad()
    def __call__(
        self, sources: Sequence[Tensor], goals: Sequence[Tensor], factors: Tensor | None = None
    ) -> None:
        """Copy all; where there are factors, multiply each source by its own on the way."""
        if not sources:
            return
        if not runs_kernels(sources[0]):
            reference(sources, goals, factors)
            return
        from trainferry.train.kernels.programs.copies import copy_values

        if self._jobs is None:
            self._prepare(sources, goals)
        assert self._jobs is not None
        facts = [_facts(source, goal) for source, goal in zip(sources, goals, strict=True)]
        self._facts.copy_(torch.tensor(facts, dtype=torch.int64))
        # Outside of a recording, the copy must have read the places before they may change.
        self._there.copy_(self._facts, non_blocking=is_recording(self._there.device))
        copy_values[(len(self._jobs),)](
            *(self._there, self._jobs, sources[0], goals[0]),
            self._there if factors is None else factors,
            SCALES=factors is not None,
            ALIGNED=all(place % _ALIGNMENT == 0 for fact in facts for place in fact[:2]),
            VALUES=_VALUES,
            num_warps=8,
        )

    def _prepare(self, sources: Sequence[Tensor], goals: Sequence[Tensor]) -> None:
        """Deal the values out to programs, and keep memory for the places, as recordings need."""
        jobs = [
            (number, part)
            for number, (source, goal) in enumerate(zip(sources, goals, strict=True))
            for part in range(-(-_shared(goal, source).numel() // _VALUES))
        ]
        device = sources[0].device
        self._jobs = torch.tensor(jobs, dtype=torch.int64, device=device)
        self._facts = torch.empty(
            len(sources), 6, dtype=torch.int64, pin_memory=device.type == "cuda"
        )
        self._there = torch.empty_like(self._facts, device=device, pin_memory=False)


class Multiples:
    """Multiplies each tensor by a factor of its own. Layouts do not matter, as long as no gap is.

    Shapes and formats must stay, as for `Copies`.
    """

    def __init__(self) -> None:
        self._copies = Copies()

    def __call__(self, tensors: Sequence[Tensor], factors: Tensor) -> None:
        lines = [each.as_strided((each.numel(),), (1,)) for each in tensors]
        self._copies(lines, lines, factors)


def reference(
    sources: Sequence[Tensor], goals: Sequence[Tensor], factors: Tensor | None = None
) -> None:
    """Copy one after the other."""
    for number, (source, goal) in enumerate(zip(sources, goals, strict=True)):
        shared = _shared(source, goal)
        _shared(goal, source).copy_(shared if factors is None else shared * factors[number])


def _shared(tensor: Tensor, other: Tensor) -> Tensor:
    """The part of a tensor that the other has too."""
    return tensor[tuple(slice(size) for size in map(min, tensor.shape, other.shape))]


def _facts(source: Tensor, goal: Tensor) -> tuple[int, ...]:
    widths = _width(source), _width(goal)
    values = _shared(goal, source).numel()
    return source.data_ptr(), goal.data_ptr(), values, min(widths), *widths


def _width(tensor: Tensor) -> int:
    """Numbers in a row of memory."""
    assert tensor.ndim == 1 or tensor.is_contiguous(memory_format=torch.channels_last)
    return tensor.shape[min(1, tensor.ndim - 1)]
