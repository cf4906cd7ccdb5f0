"""Photographs as batches: what is random follows from seed and place, and nothing is lost."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.train.photo_data import make_photo_data
from trainferry.errors import DataError
from trainferry.train.data.example import build_example, parse_example
from trainferry.train.data.photos.source import PhotoSource
from trainferry.train.data.tfrecord import RecordFile, write_records
from trainferry.train.photos import complete, evaluation_source, training_source
from trainferry.train.recipe.read import read_recipe

SETS = ("picture.height=24", "picture.width=24", "picture.evaluation_size=28")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photo_data(tmp_path_factory.mktemp("photos"), classes=3, train=12, val=5)


def read_training(data: Path, *sets: str) -> PhotoSource:
    recipe = complete(read_recipe("resnet50", [*SETS, *sets]), data)
    return training_source(recipe, data, 0, lambda _: None)


def numbers(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


def test_a_sample_looks_the_same_whatever_batch_it_comes_in(data: Path) -> None:
    source = read_training(data)
    whole = source.training_batch(numbers(3, 1, 4), numbers(30, 31, 32), seed=5)
    alone = source.training_batch(numbers(1), numbers(31), seed=5)
    assert torch.equal(whole.images[1], alone.images[0])
    assert int(whole.labels[1]) == int(alone.labels[0])


def test_another_place_or_seed_gives_another_picture(data: Path) -> None:
    source = read_training(data)
    first, *others = (
        source.training_batch(numbers(2), numbers(place), seed=seed).images
        for place, seed in ((7, 0), (8, 0), (7, 1))
    )
    assert not any(torch.equal(first, other) for other in others)


@pytest.mark.parametrize(("background", "first"), [("true", 1), ("false", 0)])
def test_classes_start_behind_the_background(data: Path, background: str, first: int) -> None:
    source = read_training(data, f"task.background={background}")
    batch = source.training_batch(np.arange(12), np.arange(12), seed=0)
    assert sorted(set(batch.labels.tolist())) == [first, first + 1, first + 2]
    assert source.label_text(0) == source.names[int(batch.labels[0])]


def test_training_pictures_are_bytes_unless_floats_are_asked_for(data: Path) -> None:
    batches = [
        read_training(data, f"picture.values={kind}").training_batch(numbers(0), numbers(9), 0)
        for kind in ("bytes", "floats")
    ]
    assert [batch.images.dtype for batch in batches] == [torch.uint8, torch.float32]
    assert (batches[0].images.float() - batches[1].images).abs().max() <= 0.51


def test_an_evaluation_fills_up_and_masks_its_last_batch(data: Path) -> None:
    recipe = complete(read_recipe("resnet50", SETS), data)
    source = evaluation_source(recipe, data, "val", "exact")
    batch = source.evaluation_batch(numbers(3, 4), size=4)
    assert batch.images.dtype == torch.float32
    assert batch.valid.tolist() == [True, True, False, False]
    shown = torch.from_numpy(source.shown(3)).float()
    assert (batch.images[0] - shown).abs().max() <= 0.5


def damage(data: Path, folder: Path, *bad: int) -> Path:
    """Copy the training records with pictures that are none."""
    records = [
        bytes(file[number])
        for file in map(RecordFile, sorted(data.glob("train-*-of-*[0-9]")))
        for number in range(len(file))
    ]
    for number in bad:
        features = parse_example(records[number])
        features["image/encoded"] = [b"no picture"]
        records[number] = build_example(features)
    write_records(folder / "train-00000-of-00001", records)
    return folder


def test_a_bad_picture_is_counted_and_the_next_one_takes_its_place(
    data: Path, tmp_path: Path
) -> None:
    source = read_training(damage(data, tmp_path, 4))
    batch = source.training_batch(numbers(3, 4), numbers(0, 1), seed=0)
    assert int(batch.skipped) == 1
    assert batch.positions.tolist() == [3, 5]
    assert batch.valid.all()


def test_a_bad_picture_is_no_sample_of_an_evaluation(data: Path, tmp_path: Path) -> None:
    source = read_training(damage(data, tmp_path, 4))
    batch = source.evaluation_batch(numbers(3, 4), size=2)
    assert (batch.valid.tolist(), int(batch.skipped)) == ([True, False], 1)


def test_pictures_that_are_all_bad_are_an_error(data: Path, tmp_path: Path) -> None:
    source = read_training(damage(data, tmp_path, *range(12)))
    with pytest.raises(DataError, match="cannot be read, from sample 2 on"):
        source.training_batch(numbers(2), numbers(0), seed=0)


def test_a_flip_of_one_mirrors_every_picture(data: Path) -> None:
    whole = ("picture.least_area=1.0", "picture.least_aspect=1.0", "picture.most_aspect=1.0")
    plain = read_training(data, *whole, "augment.flip=0.0")
    mirrored = dataclasses.replace(plain, augment=dataclasses.replace(plain.augment, flip=1.0))
    left, right = (
        source.training_batch(numbers(0), numbers(0), seed=0).images.float()
        for source in (plain, mirrored)
    )
    assert (left.mean(dim=2) - right.mean(dim=2)).abs().max() < 12
    assert not torch.equal(left, right)


def test_data_of_other_classes_is_refused_by_name(data: Path, tmp_path: Path) -> None:
    recipe = complete(read_recipe("resnet50", SETS), data)
    other = make_photo_data(tmp_path / "other", classes=3, train=6, val=3)
    names = json.loads((other / "classes.json").read_text(encoding="utf-8"))
    names["classes"].reverse()
    (other / "classes.json").write_text(json.dumps(names), encoding="utf-8")
    with pytest.raises(DataError, match="label 1 is `triangle 2` there and `disc 0` here"):
        evaluation_source(recipe, other, "val", "exact")
    with pytest.raises(DataError, match="are not those of the run") as refused:
        training_source(recipe, other, 0, lambda _: None)
    assert "task.classes_from=data if" in refused.value.hint
    assert "if a new run is to learn these classes" in refused.value.hint
