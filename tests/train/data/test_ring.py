"""Batches whose pictures come through a ring of shared places."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset

from trainferry.errors import DataError
from trainferry.train.data.batch import Batch
from trainferry.train.data.batches import _taken, load_through_ring
from trainferry.train.data.ring import Parked, Ring, _rings

ENDLESS = range(3, np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Numbered(Dataset[Batch]):
    """Batches full of their own number; one may be larger, one cannot be read."""

    larger: int = -1
    broken: int = -1

    def __getitem__(self, number: int) -> Batch:
        if number == self.broken:
            raise DataError(f"batch {number} is broken", hint="mend it")
        size = 5 if number == self.larger else 4
        filled = torch.full((size,), number)
        images = torch.full((size, 6, 7, 3), number % 251, dtype=torch.uint8)
        return Batch(images, filled[:, None], filled, filled > 0, filled, torch.tensor(0))


@dataclass(frozen=True)
class Packed(Dataset[Batch]):
    """Batches of bytes in a line, each as long as its number says."""

    def __getitem__(self, number: int) -> Batch:
        whole = Numbered()[number]
        line = torch.full((4 * 100 * number,), number, dtype=torch.uint8)
        return replace(whole, images=line, cuts=torch.zeros(4, 8, dtype=torch.int64))


def numbers(batches: Iterator[Batch]) -> list[tuple[int, int]]:
    found = []
    for batch in batches:
        assert bool((batch.images == batch.images[0, 0, 0, 0]).all())
        found.append((int(batch.images[0, 0, 0, 0]), int(batch.lengths[0])))
    return found


@pytest.mark.parametrize("workers", [1, 2])
def test_batches_come_in_order_and_whole(workers: int) -> None:
    batches = load_through_ring(Numbered(), ENDLESS, workers, pinned=False)
    found = numbers(islice(batches, 60))
    assert found == [(number % 251, number) for number in range(3, 63)]


def test_a_batch_stays_as_it_is_when_its_place_is_used_again() -> None:
    batches = list(islice(load_through_ring(Numbered(), ENDLESS, 1, pinned=False), 30))
    assert numbers(iter(batches)) == [(number, number) for number in range(3, 33)]


def test_readers_that_are_as_far_ahead_as_they_may_leave_alone_what_is_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def take_late(batch: Batch | Parked) -> Batch:
        time.sleep(0.05)
        return _taken(batch)

    monkeypatch.setattr("trainferry.train.data.batches._taken", take_late)
    found = numbers(islice(load_through_ring(Numbered(), ENDLESS, 1, pinned=False), 20))
    assert found == [(number, number) for number in range(3, 23)]


def test_pictures_of_another_size_travel_with_their_batch() -> None:
    batches = list(islice(load_through_ring(Numbered(larger=5), ENDLESS, 2, pinned=False), 6))
    assert [len(batch.images) for batch in batches] == [4, 4, 5, 4, 4, 4]
    assert numbers(iter(batches)) == [(number, number) for number in range(3, 9)]


def test_smaller_pictures_take_a_part_of_their_place() -> None:
    one = Numbered()[1]
    ring = Ring(2 * one.images.nbytes, 2)
    parked = ring.park(one, 1)
    assert isinstance(parked, Parked)
    assert torch.equal(parked.take().images, one.images)
    ring.close()


def test_packed_batches_are_unpacked_in_order() -> None:
    """Bytes in a line, of another length in each batch; some have no room in their place."""

    def unpack(batch: Batch) -> Batch:
        assert batch.cuts is not None
        images = batch.images.view(len(batch.cuts), -1, 1, 1)
        return replace(batch, images=images[:, :1], cuts=None)

    batches = load_through_ring(Packed(), ENDLESS, 2, pinned=False, unpack=unpack)
    assert numbers(islice(batches, 20)) == [(number, number) for number in range(3, 23)]


def test_errors_keep_their_hints() -> None:
    batches = load_through_ring(Numbered(broken=6), ENDLESS, 2, pinned=False)
    with pytest.raises(DataError, match="batch 6 is broken") as caught:
        list(islice(batches, 10))
    assert caught.value.hint == "mend it"


def test_places_are_given_back_in_the_end() -> None:
    before = len(_rings)
    batches = load_through_ring(Numbered(), ENDLESS, 1, pinned=False)
    next(batches)
    assert len(_rings) == before + 1
    batches.close()  # type: ignore[attr-defined]  # it is a generator
    assert len(_rings) == before


def test_floats_pass_through_a_ring() -> None:
    images = torch.randn(2, 3, 4, 3)
    ring = Ring(images.nbytes, 3)
    one = Numbered()[1]
    parked = ring.park(
        Batch(images, one.labels, one.lengths, one.valid, one.positions, one.skipped), 7
    )
    assert isinstance(parked, Parked)
    assert parked.place.number == 1
    assert torch.equal(parked.take().images, images)
    ring.close()
