"""Batches: the order of the samples, and their way from a source to tensors.

The stream of training samples is endless: pass after pass over the kept samples,
each pass in an order of its own that follows from the seed alone. Batch number n
holds the samples n*B to (n+1)*B - 1 of that stream, so no sample is lost at the end
of a pass, every shape is the same, and a run can start at any batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from multiprocessing import get_start_method
from typing import Any, Protocol, TypeAlias

import numpy as np
from torch.utils.data import DataLoader, Dataset

from trainferry.errors import TrainferryError
from trainferry.train.data.ahead import make_ahead
from trainferry.train.data.batch import Batch
from trainferry.train.data.pictures import Picture
from trainferry.train.data.reader_signals import heed_parent_alone
from trainferry.train.data.ring import Parked, Ring
from trainferry.train.data.share import WHOLE, Share

_AHEAD = 4  # batches of each reading process
_PINNED = 2  # that are ready to be sent; a device is slow to read memory that is always new to it
_ROOM = 2  # bytes of JPEGs differ from batch to batch: places have so many times those of the first

Positions: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


Unpack: TypeAlias = Callable[[Batch], Batch]


class Source(Protocol):
    """Samples that are fit for use, in a fixed order."""

    def __len__(self) -> int:
        """Return the number of samples."""

    def training_batch(self, positions: Positions, places: Positions, seed: int) -> Batch:
        """Read samples to train on; one that cannot be read is counted and replaced.

        `places` number the samples in the endless stream: whatever is random about a
        sample follows from the seed and its place.
        """

    def evaluation_batch(self, positions: Positions, size: int) -> Batch:
        """Read samples to score; rows up to `size`, and what cannot be read, are not valid."""

    def shown(self, position: int) -> Picture:
        """Return a picture as a person wants to see it: RGB bytes."""

    def label_text(self, position: int) -> str:
        """Return what a picture shows, in words."""


def training_batches(  # noqa: PLR0913  # by name, all of them
    source: Source,
    *,
    batch: int,
    seed: int,
    start: int,
    workers: int,
    pinned: bool,
    share: Share = WHOLE,
    parts: int = 1,
    unpack: Unpack | None = None,
) -> Iterator[Batch]:
    """Yield the batches of the training stream from number `start` on, without end.

    Of each, only one rank's share; with `parts`, its share of the first part comes first. Packed
    batches are unpacked, a little ahead of whoever needs them.
    """
    steps = _Stream(source, batch, seed, share, parts)
    numbers = range(start, np.iinfo(np.int64).max)
    if workers and pinned and get_start_method() == "fork":
        return load_through_ring(steps, numbers, workers, pinned=True, unpack=unpack)
    if unpack is None:
        return _load(steps, numbers, workers, pinned)
    fetch = partial(_fetched, pinned=pinned, unpack=unpack)
    return make_ahead(_load(steps, numbers, workers, pinned=False), fetch, _PINNED)


def evaluation_batches(
    source: Source, *, batch: int, workers: int, pinned: bool, share: Share = WHOLE
) -> Iterator[Batch]:
    """Yield every sample once, in order; the last batch is filled up and masked.

    Of several ranks, each has whole batches in turn: `evaluation_numbers` tells which.
    """
    numbers = evaluation_numbers(len(source), batch, share)
    return _load(_InOrder(source, batch), numbers, workers, pinned)


def evaluation_numbers(samples: int, batch: int, share: Share = WHOLE) -> range:
    """Return the numbers of the batches of an evaluation that one rank has."""
    return range(share.rank, -(-samples // batch), share.ranks)


def stream_positions(
    count: int, batch: int, seed: int, number: int, share: Share = WHOLE, parts: int = 1
) -> Positions:
    """Return which samples batch `number` of the stream holds, or one rank's share of them."""
    places = stream_places(batch, number, share, parts)
    positions = np.empty(len(places), np.int64)
    for turn in np.unique(places // count):
        here = places // count == turn
        positions[here] = _pass_order(count, seed, int(turn))[places[here] % count]
    return positions


def stream_places(batch: int, number: int, share: Share = WHOLE, parts: int = 1) -> Positions:
    """Return where in the stream the samples of a batch, or of one rank's share, stand.

    Each part of the batch is divided among the ranks, so that the ranks together work on the
    same parts one after the other, however many they are.
    """
    assert batch % (share.ranks * parts) == 0
    places = np.arange(number * batch, (number + 1) * batch, dtype=np.int64)
    return places.reshape(parts, share.ranks, -1)[:, share.rank].reshape(-1)


@lru_cache(maxsize=4)
def _pass_order(count: int, seed: int, turn: int) -> Positions:
    return np.random.default_rng([seed, turn]).permutation(count)


@dataclass(frozen=True)
class _Stream(Dataset[Batch]):
    source: Source
    size: int
    seed: int
    share: Share
    parts: int

    def __getitem__(self, number: int) -> Batch:
        positions = stream_positions(
            len(self.source), self.size, self.seed, number, self.share, self.parts
        )
        places = stream_places(self.size, number, self.share, self.parts)
        batch = self.source.training_batch(positions, places, self.seed)
        return replace(batch, share=self.share)


@dataclass(frozen=True)
class _InOrder(Dataset[Batch]):
    source: Source
    size: int

    def __getitem__(self, number: int) -> Batch:
        first = number * self.size
        last = min(first + self.size, len(self.source))
        positions = np.arange(first, last, dtype=np.int64)
        return self.source.evaluation_batch(positions, self.size)


def load_through_ring(
    dataset: Dataset[Batch],
    numbers: range,
    workers: int,
    *,
    pinned: bool,
    unpack: Unpack | None = None,
) -> Iterator[Batch]:
    """Read the first batch here, which shows how large they are, and the others in processes."""
    first = dataset[numbers[0]]
    size = first.images.nbytes if first.cuts is None else _ROOM * first.images.nbytes
    # One more than torch lets its readers be ahead: what was handed out last may still be read.
    ring = Ring(size, workers * _AHEAD + 1)
    fetch = partial(_fetched, pinned=pinned, unpack=unpack)
    try:
        yield fetch(first)
        parked = _read(_Parking(dataset, ring), numbers[1:], workers, pinned=False)
        yield from make_ahead(parked, fetch, _PINNED)
    finally:
        ring.close()


@dataclass(frozen=True)
class _Parking(Dataset[Batch | Parked]):
    dataset: Dataset[Batch]
    ring: Ring

    def __getitem__(self, number: int) -> Batch | Parked:
        return self.ring.park(self.dataset[number], number)


def _load(dataset: Dataset[Batch], numbers: range, workers: int, pinned: bool) -> Iterator[Batch]:
    if workers == 0:
        return (dataset[number] for number in numbers)
    return map(_taken, _read(dataset, numbers, workers, pinned=pinned))


def _read(
    dataset: Dataset[Batch] | _Parking, numbers: range, workers: int, *, pinned: bool
) -> Iterator[Batch | Parked]:
    """Let processes read; they are started here and now, whichever thread asks for batches."""
    loader = DataLoader(
        _Guarded(dataset),
        batch_size=None,
        sampler=_Numbers(numbers),
        num_workers=workers,
        prefetch_factor=_AHEAD,
        pin_memory=pinned,
        worker_init_fn=_prepare_reader,
    )
    return _raise_here(iter(loader))


@dataclass(frozen=True)
class _Guarded(Dataset[Batch | Parked | TrainferryError]):
    """Hands errors over as values: what a worker raises, torch raises again without its hint."""

    dataset: Dataset[Batch] | _Parking

    def __getitem__(self, number: int) -> Batch | Parked | TrainferryError:
        try:
            return self.dataset[number]
        except TrainferryError as error:
            return error


def _raise_here(
    loaded: Iterable[Batch | Parked | TrainferryError],
) -> Iterator[Batch | Parked]:
    for batch in loaded:
        if isinstance(batch, TrainferryError):
            raise batch
        yield batch


def _taken(batch: Batch | Parked) -> Batch:
    return batch.take() if isinstance(batch, Parked) else batch


def _fetched(batch: Batch | Parked, *, pinned: bool, unpack: Unpack | None) -> Batch:
    if unpack is not None:
        batch = unpack(_taken(batch))
    return batch.pin_memory() if pinned else _taken(batch)


@dataclass(frozen=True)
class _Numbers:
    """A range as a sampler: DataLoader asks only for iteration."""

    numbers: range

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)


def _prepare_reader(worker: int) -> None:
    """Readers are the parallelism: OpenCV's own threads would fight each other."""
    del worker
    heed_parent_alone()
    try:
        import cv2
    except ImportError:
        return
    cv2.setNumThreads(0)
