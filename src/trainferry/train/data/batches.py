"""Batches of words: the order of the samples, and their way from records to tensors.

The stream of training samples is endless: pass after pass over the kept samples,
each pass in an order of its own that follows from the seed alone. Batch number n
holds the samples n*B to (n+1)*B - 1 of that stream, so no sample is lost at the end
of a pass, every shape is the same, and a run can start at any batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from trainferry.errors import DataError, TrainferryError
from trainferry.train.data.alphabet import Alphabet
from trainferry.train.data.word_records import WordRecords

MOST_BAD_IN_A_ROW = 100


@dataclass(frozen=True)
class Batch:
    """What one step sees. Only rows that are `valid` count in an evaluation."""

    images: Tensor  # uint8 B H W C
    labels: Tensor  # int64 B L, padded with the blank
    lengths: Tensor  # int64 B
    valid: Tensor  # bool B
    positions: Tensor  # int64 B, number of the sample in its set
    skipped: Tensor  # int64, samples that could not be read
    texts: tuple[str, ...] = ()  # in evaluations: what was written, known characters or not

    def to(self, device: torch.device) -> Batch:
        return self._map(lambda part: part.to(device, non_blocking=True))

    def pin_memory(self) -> Batch:
        return self._map(lambda part: part.pin_memory())

    def split(self, parts: int) -> list[Batch]:
        """Cut the batch into equal parts, for accumulation."""
        pieces = {
            name: value.chunk(parts) if value.ndim else (value,) * parts
            for name, value in self._tensors().items()
        }
        return [
            replace(self, **{name: values[part] for name, values in pieces.items()})
            for part in range(parts)
        ]

    def _map(self, change: Callable[[Tensor], Tensor]) -> Batch:
        changed: dict[str, Any] = {name: change(each) for name, each in self._tensors().items()}
        return replace(self, **changed)

    def _tensors(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "texts"}


@dataclass(frozen=True)
class WordSource:
    """Samples of a record set that are fit for use, and how their labels are written."""

    records: WordRecords
    alphabet: Alphabet
    kept: np.ndarray[Any, np.dtype[np.int64]]
    max_length: int

    def __len__(self) -> int:
        return len(self.kept)

    def text(self, position: int) -> str:
        return self.records.text(int(self.kept[position]))

    def batch(
        self, positions: np.ndarray[Any, np.dtype[np.int64]], size: int, *, replacing: bool
    ) -> Batch:
        """Read the samples at `positions` and fill up to `size` rows.

        A sample that cannot be read is counted as skipped. In training, when `replacing`,
        the next readable one takes its place; in an evaluation its row is not valid, and
        labels leave out characters that the alphabet does not have: `texts` keeps them.
        """
        height, width = self.records.height, self.records.width
        images = np.zeros((size, height, width, 3), np.uint8)
        labels = np.full((size, self.max_length), self.alphabet.blank, np.int64)
        lengths = np.zeros(size, np.int64)
        valid = np.zeros(size, np.bool_)
        texts = [""] * size
        read = np.zeros(size, np.int64)
        skipped = 0
        found = self.records.fill(images[: len(positions)], self.kept[positions].tolist())
        for row, position in enumerate(positions.tolist()):
            used, text = position, found[row]
            if text is None:
                skipped += 1
                if not replacing:
                    continue
                used, text = self._fill_with_next(images[row], position)
            known = text if replacing else self._known(text)
            classes = self.alphabet.encode(known)
            labels[row, : len(classes)] = classes
            lengths[row] = len(classes)
            read[row] = used
            valid[row] = True
            texts[row] = text
        return Batch(
            torch.from_numpy(images),
            torch.from_numpy(labels),
            torch.from_numpy(lengths),
            torch.from_numpy(valid),
            torch.from_numpy(read),
            torch.tensor(skipped),
            () if replacing else tuple(texts),
        )

    def _fill_with_next(
        self, picture: np.ndarray[Any, np.dtype[np.uint8]], position: int
    ) -> tuple[int, str]:
        """Take the first readable sample after `position`: always the same one."""
        for step in range(1, min(MOST_BAD_IN_A_ROW, len(self))):
            candidate = (position + step) % len(self)
            text = self.records.fill(picture[None], [int(self.kept[candidate])])[0]
            if text is not None:
                return candidate, text
        bad = min(MOST_BAD_IN_A_ROW, len(self))
        raise DataError(
            f"{bad} samples in a row cannot be read, from sample {position} on",
            hint="run `trainferry data check` on this folder to see what is wrong",
        )

    def _known(self, text: str) -> str:
        known = "".join(character for character in text if character in self.alphabet)
        return known[: self.max_length]


def training_batches(
    source: WordSource, *, batch: int, seed: int, start: int, workers: int, pinned: bool
) -> Iterator[Batch]:
    """Yield the batches of the training stream from number `start` on, without end."""
    steps = _Stream(source, batch, seed)
    return _load(steps, range(start, np.iinfo(np.int64).max), workers, pinned)


def evaluation_batches(
    source: WordSource, *, batch: int, workers: int, pinned: bool
) -> Iterator[Batch]:
    """Yield every sample once, in order; the last batch is filled up and masked."""
    count = -(-len(source) // batch)
    return _load(_InOrder(source, batch), range(count), workers, pinned)


def stream_positions(
    count: int, batch: int, seed: int, number: int, rank: int = 0, ranks: int = 1
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return which samples batch `number` of the stream holds, or one rank's share of them."""
    assert batch % ranks == 0
    share = batch // ranks
    first = number * batch + rank * share
    places = np.arange(first, first + share, dtype=np.int64)
    positions = np.empty(share, np.int64)
    for turn in np.unique(places // count):
        here = places // count == turn
        positions[here] = _pass_order(count, seed, int(turn))[places[here] % count]
    return positions


@lru_cache(maxsize=4)
def _pass_order(count: int, seed: int, turn: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.random.default_rng([seed, turn]).permutation(count)


@dataclass(frozen=True)
class _Stream(Dataset[Batch]):
    source: WordSource
    size: int
    seed: int

    def __getitem__(self, number: int) -> Batch:
        positions = stream_positions(len(self.source), self.size, self.seed, number)
        return self.source.batch(positions, self.size, replacing=True)


@dataclass(frozen=True)
class _InOrder(Dataset[Batch]):
    source: WordSource
    size: int

    def __getitem__(self, number: int) -> Batch:
        first = number * self.size
        last = min(first + self.size, len(self.source))
        positions = np.arange(first, last, dtype=np.int64)
        return self.source.batch(positions, self.size, replacing=False)


def _load(dataset: Dataset[Batch], numbers: range, workers: int, pinned: bool) -> Iterator[Batch]:
    if workers == 0:
        return (dataset[number] for number in numbers)
    loader = DataLoader(
        _Guarded(dataset),
        batch_size=None,
        sampler=_Numbers(numbers),
        num_workers=workers,
        prefetch_factor=4,
        pin_memory=pinned,
        worker_init_fn=_one_thread,
    )
    return _raise_here(loader)


@dataclass(frozen=True)
class _Guarded(Dataset[Batch | TrainferryError]):
    """Hands errors over as values: what a worker raises, torch raises again without its hint."""

    dataset: Dataset[Batch]

    def __getitem__(self, number: int) -> Batch | TrainferryError:
        try:
            return self.dataset[number]
        except TrainferryError as error:
            return error


def _raise_here(loaded: Iterable[Batch | TrainferryError]) -> Iterator[Batch]:
    for batch in loaded:
        if isinstance(batch, TrainferryError):
            raise batch
        yield batch


@dataclass(frozen=True)
class _Numbers:
    """A range as a sampler: DataLoader asks only for iteration."""

    numbers: range

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)


def _one_thread(worker: int) -> None:
    """Workers are the parallelism: OpenCV's own threads would fight each other."""
    del worker
    try:
        import cv2
    except ImportError:
        return
    cv2.setNumThreads(0)
