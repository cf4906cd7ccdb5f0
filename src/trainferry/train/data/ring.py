"""Batches on their way from reading processes, in memory that is used again and again.

Torch's own way maps memory anew for every tensor of a batch, and asks the reader for it through a
socket. That is Python, and while it runs, the thread that starts kernels for a device stands
still. Here the places for pictures are made once, before the readers are, and each batch goes
through the next of them; what else belongs to it travels in the message.
"""

from __future__ import annotations

import math
import mmap
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor

from trainferry.train.data.batch import Batch
from trainferry.train.data.share import Share

_rings: dict[int, Ring] = {}
_names = count()
_UNIT = 64  # bytes: places begin where any kind of number may


class Ring:
    """So many places of so many bytes for pictures; readers must be forked from here."""

    def __init__(self, size: int, places: int) -> None:
        self._bytes = -(-max(1, size) // _UNIT) * _UNIT
        memory = mmap.mmap(-1, places * self._bytes)
        self._memory = torch.frombuffer(memory, dtype=torch.uint8)
        self._places = places
        self.name = next(_names)
        _rings[self.name] = self

    def park(self, batch: Batch, number: int) -> Batch | Parked:
        """Put the pictures into the place of this number; larger ones travel with their batch."""
        images = batch.images
        if images.nbytes > self._bytes:
            return batch
        place = Place(number % self._places, images.shape, images.dtype)
        self.at(place).copy_(images)
        others = {name: part.numpy() for name, part in batch.tensors().items() if name != "images"}
        return Parked(others, batch.texts, batch.share, place, self.name)

    def at(self, place: Place) -> Tensor:
        start = place.number * self._bytes
        part = self._memory[start : start + math.prod(place.shape) * place.kind.itemsize]
        return part.view(place.kind).view(place.shape)

    def close(self) -> None:
        _rings.pop(self.name, None)


class Place(NamedTuple):
    """A place of a ring, and the pictures that lie there."""

    number: int
    shape: torch.Size
    kind: torch.dtype


@dataclass(frozen=True)
class Parked:
    """A batch whose pictures wait in a ring; the rest of it travels as plain arrays."""

    others: dict[str, NDArray[Any]]
    texts: tuple[str, ...]
    share: Share
    place: Place
    ring: int

    def take(self) -> Batch:
        return self._with(_rings[self.ring].at(self.place).clone())

    def pin_memory(self) -> Batch:
        """Fetch the pictures into memory that a device reads by itself."""
        images = _rings[self.ring].at(self.place)
        pinned = torch.empty(images.shape, dtype=images.dtype, pin_memory=True).copy_(images)
        return self._with(pinned).pin_memory()

    def _with(self, images: Tensor) -> Batch:
        others: dict[str, Any] = {
            name: torch.from_numpy(part) for name, part in self.others.items()
        }
        return Batch(images, **others, texts=self.texts, share=self.share)
