"""What one step sees: pictures, their answers, and which rows count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from trainferry.train.data.share import WHOLE, Share


@dataclass(frozen=True)
class Batch:
    """What one step sees. Only rows that are `valid` count in an evaluation."""

    images: Tensor  # uint8 or float32, 0 to 255, B H W C; with `cuts`, bytes of JPEGs in a line
    labels: Tensor  # int64; words: B L, padded with the blank; photographs: B
    lengths: Tensor  # int64 B, of the labels
    valid: Tensor  # bool B
    positions: Tensor  # int64 B, number of the sample in its set
    skipped: Tensor  # int64, samples that could not be read
    texts: tuple[str, ...] = ()  # in evaluations of words: what was written, all characters
    soft: Tensor | None = None  # float32 B K, shares of classes where pictures were mixed
    share: Share = WHOLE  # which rows of the whole batch these are
    cuts: Tensor | None = None  # int64 B 8, which bytes and which part of a JPEG each row shows

    def to(self, device: torch.device) -> Batch:
        return self._map(lambda part: part.to(device, non_blocking=True))

    def hold_for(self, stream: Any) -> None:  # noqa: ANN401  # of any backend
        """Keep the memory until the stream is done with what it has been told so far."""
        for part in self.tensors().values():
            part.record_stream(stream)

    def pin_memory(self) -> Batch:
        """Put it into memory that a device reads by itself; what is on a device stays there."""
        return self._map(lambda part: part.pin_memory() if part.is_cpu else part)

    def split(self, parts: int) -> list[Batch]:
        """Cut the batch into equal parts, for accumulation."""
        pieces = {
            name: value.chunk(parts) if value.ndim else (value,) * parts
            for name, value in self.tensors().items()
        }
        return [
            replace(self, **{name: values[part] for name, values in pieces.items()})
            for part in range(parts)
        ]

    def _map(self, change: Callable[[Tensor], Tensor]) -> Batch:
        changed: dict[str, Any] = {name: change(each) for name, each in self.tensors().items()}
        return replace(self, **changed)

    def tensors(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, Tensor)}
