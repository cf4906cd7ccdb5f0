"""Batches: every sample once a pass, a start anywhere, the same with worker processes."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.train.word_data import draw_word, make_word_data, word_record
from trainferry.errors import DataError
from trainferry.train.data.batch import Batch
from trainferry.train.data.batches import (
    evaluation_batches,
    evaluation_numbers,
    stream_positions,
    training_batches,
)
from trainferry.train.data.share import Share
from trainferry.train.data.tfrecord import write_records
from trainferry.train.data.words.source import WordSource
from trainferry.train.recipe.read import read_recipe
from trainferry.train.recipe.sections import Recipe
from trainferry.train.words import evaluation_source, training_source

RECIPE = read_recipe("crnn_small")


def read_training(data: Path, recipe: Recipe = RECIPE) -> WordSource:
    return training_source(recipe, data, 0, lambda _: None)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> WordSource:
    data = make_word_data(tmp_path_factory.mktemp("words"), train=10, val=0)
    return read_training(data)


def first_batches(
    source: WordSource, count: int, *, start: int = 0, workers: int = 0, batch: int = 4
) -> list[Batch]:
    batches = training_batches(
        source, batch=batch, seed=3, start=start, workers=workers, pinned=False
    )
    return list(itertools.islice(batches, count))


def assert_same(one: Sequence[Batch], other: Sequence[Batch]) -> None:
    assert len(one) == len(other)
    for left, right in zip(one, other, strict=True):
        for name in ("images", "labels", "lengths", "valid", "positions", "skipped"):
            assert torch.equal(getattr(left, name), getattr(right, name)), name
        assert left.texts == right.texts


@pytest.mark.parametrize(("count", "batch"), [(10, 4), (12, 4), (7, 1), (3, 8)])
def test_each_pass_holds_every_sample_once(count: int, batch: int) -> None:
    passes = 4
    batches = -(-count * passes // batch)
    stream = np.concatenate([stream_positions(count, batch, 0, n) for n in range(batches)])
    turns = [stream[turn * count : (turn + 1) * count].tolist() for turn in range(passes)]
    assert all(sorted(turn) == list(range(count)) for turn in turns)
    assert count < 4 or len({tuple(turn) for turn in turns}) == passes


def test_a_batch_that_ends_one_pass_begins_the_next() -> None:
    first = np.concatenate([stream_positions(10, 4, 0, n) for n in range(2)])
    straddling = stream_positions(10, 4, 0, 2)
    assert sorted([*first, *straddling[:2]]) == list(range(10))
    following = np.concatenate([straddling[2:], *(stream_positions(10, 4, 0, n) for n in (3, 4))])
    assert sorted(following.tolist()) == list(range(10))


def test_the_order_follows_from_the_seed_alone() -> None:
    orders = [stream_positions(100, 100, seed, 0).tolist() for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]


def test_the_stream_starts_anywhere(source: WordSource) -> None:
    assert_same(first_batches(source, 3, start=5), first_batches(source, 8)[5:])


@pytest.mark.parametrize("workers", [1, 2])
def test_worker_processes_give_the_same_batches(source: WordSource, workers: int) -> None:
    assert_same(first_batches(source, 6, workers=workers), first_batches(source, 6))


def test_a_batch_holds_pictures_and_padded_labels(source: WordSource) -> None:
    (batch,) = first_batches(source, 1)
    assert (batch.images.shape, batch.images.dtype) == ((4, 32, 100, 3), torch.uint8)
    assert batch.labels.shape == (4, source.max_length)
    for row, position in enumerate(batch.positions.tolist()):
        length = int(batch.lengths[row])
        assert source.alphabet.decode(batch.labels[row, :length].tolist()) == source.label_text(
            position
        )
        assert set(batch.labels[row, length:].tolist()) == {source.alphabet.blank}


def test_parts_for_accumulation_are_the_batch_again(source: WordSource) -> None:
    (batch,) = first_batches(source, 1)
    parts = batch.split(2)
    assert [part.images.shape[0] for part in parts] == [2, 2]
    assert torch.equal(torch.cat([part.labels for part in parts]), batch.labels)


def test_training_replaces_what_cannot_be_read_and_counts_it(tmp_path: Path) -> None:
    records = [word_record("ab", b"no picture" if n == 2 else None) for n in range(6)]
    write_records(tmp_path / "train_1.tfrecords", records)
    source = read_training(tmp_path)
    batches = first_batches(source, 1, batch=6)
    assert batches[0].valid.all()
    assert int(batches[0].skipped) == 1
    assert Counter(batches[0].positions.tolist()) == Counter([0, 1, 3, 3, 4, 5])


def test_a_set_that_cannot_be_read_at_all_is_told(tmp_path: Path) -> None:
    write_records(tmp_path / "train_1.tfrecords", [word_record("ab", b"none")] * 5)
    source = read_training(tmp_path)
    with pytest.raises(DataError, match=r"^5 samples in a row cannot be read"):
        first_batches(source, 1)


@pytest.mark.parametrize("workers", [0, 1])
def test_an_evaluation_sees_every_sample_once_and_masks_the_rest(
    tmp_path: Path, workers: int
) -> None:
    texts = ["ab", "Cd", "e-f", "gh", "né", "01", "2"]
    pictures = [b"no picture" if text == "gh" else draw_word(text) for text in texts]
    records = [word_record(*pair) for pair in zip(texts, pictures, strict=True)]
    write_records(tmp_path / "val_1.tfrecords", records)
    source = evaluation_source(RECIPE, tmp_path, "val", "exact")
    batches = list(evaluation_batches(source, batch=4, workers=workers, pinned=False))

    assert [batch.images.shape[0] for batch in batches] == [4, 4]
    assert [batch.valid.tolist() for batch in batches] == [
        [True, True, True, False],
        [True, True, True, False],
    ]
    assert sum(int(batch.skipped) for batch in batches) == 1
    read = [
        text
        for batch in batches
        for text, valid in zip(batch.texts, batch.valid.tolist(), strict=True)
        if valid
    ]
    assert read == ["ab", "cd", "e-f", "né", "01", "2"]
    known = source.alphabet.decode(batches[0].labels[2, : int(batches[0].lengths[2])].tolist())
    assert known == "ef"


def test_the_shares_of_all_ranks_are_the_batch() -> None:
    whole = stream_positions(50, 12, seed=3, number=7)
    for ranks in (1, 2, 3, 4):
        shares = [stream_positions(50, 12, 3, 7, Share(rank, ranks)) for rank in range(ranks)]
        assert np.concatenate(shares).tolist() == whole.tolist()


def test_ranks_work_on_the_same_parts_of_a_batch_one_after_the_other() -> None:
    whole = stream_positions(50, 12, seed=3, number=7).reshape(2, 6)
    for ranks in (1, 2, 3, 6):
        shares = [
            stream_positions(50, 12, 3, 7, Share(rank, ranks), parts=2).reshape(2, -1)
            for rank in range(ranks)
        ]
        assert np.concatenate(shares, axis=1).tolist() == whole.tolist()


def test_ranks_evaluate_every_batch_once() -> None:
    for ranks in (1, 2, 3, 8):
        numbers = [evaluation_numbers(45, 10, Share(rank, ranks)) for rank in range(ranks)]
        assert sorted(number for each in numbers for number in each) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("workers", [0, 1])
def test_an_error_in_a_worker_keeps_its_hint(workers: int, tmp_path: Path) -> None:
    records = [word_record("ab", b"no picture")] * 3
    write_records(tmp_path / "train_1.tfrecords", records)
    source = read_training(tmp_path, read_recipe("crnn"))
    batches = training_batches(source, batch=2, seed=0, start=0, workers=workers, pinned=False)
    with pytest.raises(DataError, match="cannot be read") as caught:
        next(batches)
    assert "data check" in caught.value.hint
