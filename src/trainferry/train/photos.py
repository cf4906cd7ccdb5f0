"""What a run that names photographs is made of: its data, its network and its task."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import nn

from trainferry.devices.apart import apart
from trainferry.devices.jpeg import decode_jpegs
from trainferry.errors import DataError, UsageError
from trainferry.train.data.batches import Positions, Unpack
from trainferry.train.data.photos.check import check_photos, require_enough
from trainferry.train.data.photos.encoded import unpack
from trainferry.train.data.photos.records import (
    PhotoRecords,
    find_photo_records,
    has_photo_records,
    read_classes,
)
from trainferry.train.data.photos.sizes import describe_large, find_short_side
from trainferry.train.data.photos.source import PhotoSource
from trainferry.train.data.synthetic import SyntheticSource
from trainferry.train.networks.densenet import DenseNet
from trainferry.train.networks.hrnet import HRNet
from trainferry.train.networks.resnet import ResNet, Version
from trainferry.train.recipe.networks import DenseNetRecipe, HRNetRecipe, ResNetRecipe
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import ClassifyRecipe, PhotoAugment, PhotoPicture
from trainferry.train.tasks.classify import Classify

IMAGENET_CLASSES = 1000


def complete(recipe: Recipe, data: Path) -> Recipe:
    """Put the classes of the data into the recipe, where the recipe leaves them open."""
    if _task(recipe).classes_from == "recipe":
        return recipe
    records = PhotoRecords(find_photo_records(data, "train"))
    return with_classes(recipe, read_classes(data, records))


def complete_without_data(recipe: Recipe) -> tuple[Recipe, str | None]:
    """Take as many classes as ImageNet has where none are known."""
    if _task(recipe).classes_from == "recipe":
        return recipe, None
    names = tuple(f"class {number}" for number in range(1, IMAGENET_CLASSES + 1))
    return with_classes(recipe, names), None


def with_classes(recipe: Recipe, names: tuple[str, ...]) -> Recipe:
    task = dataclasses.replace(_task(recipe), classes=names, classes_from="recipe")
    return dataclasses.replace(recipe, task=task)


def training_source(
    recipe: Recipe, data: Path, workers: int, say: Callable[[str], None]
) -> PhotoSource:
    """Return the samples that can be trained on; tell of those that cannot."""
    del workers  # labels are read without their pictures: one process is enough
    records = PhotoRecords(find_photo_records(data, "train"))
    _check_names(recipe, data, records)
    check = check_photos(records, _task(recipe).classes)
    say(check.summary())
    if large := describe_large(find_short_side(records, check.kept), _picture(recipe)):
        say(large)
    require_enough(check, recipe.data.minimum_kept)
    source = _source(recipe, records, check.kept)
    return dataclasses.replace(source, packed=recipe.data.jpeg == "device")


def evaluation_source(recipe: Recipe, data: Path, split: str, protocol: str) -> PhotoSource:
    """Return every sample of a split whose class the network knows."""
    if protocol != "exact":
        raise UsageError(
            f"the protocol `{protocol}` is for words, and this run names photographs",
            hint="leave --protocol out",
        )
    records = PhotoRecords(find_photo_records(data, split), _first_label(data))
    _check_names(recipe, data, records)
    check = check_photos(records, _task(recipe).classes)
    if not len(check.kept):
        raise DataError(
            f"none of the {len(records)} `{split}` samples has a class that the network knows",
            hint="give the data whose classes the run was trained on",
        )
    return _source(recipe, records, check.kept)


def unpacker(recipe: Recipe, device: torch.device) -> Unpack:
    """Return what makes pictures on the device of JPEGs that readers packed."""
    decode = partial(decode_jpegs, device=device)
    return apart(partial(unpack, picture=_picture(recipe), device=device, decode=decode), device)


def has_split(data: Path, split: str) -> bool:
    return has_photo_records(data, split)


def synthetic_source(recipe: Recipe, samples: int, pool: int) -> SyntheticSource:
    """Make pictures as the originals do: values around 127, cut off at two deviations of 60."""
    picture = _picture(recipe)
    dice = np.random.default_rng(recipe.loop.seed)
    values = dice.standard_normal((pool, picture.height, picture.width, 3), np.float32)
    images = np.clip(np.rint(127 + 60 * values.clip(-2, 2)), 0, 255).astype(np.uint8)
    labels = dice.integers(_outputs(recipe) - len(_task(recipe).classes), _outputs(recipe), pool)
    return SyntheticSource(images, labels, np.ones(pool, np.int64), samples)


def build_network(recipe: Recipe) -> nn.Module:
    sizes, outputs = recipe.network, _outputs(recipe)
    if isinstance(sizes, ResNetRecipe):
        version = cast(Version, sizes.version)
        return ResNet(outputs, sizes.size, version, sizes.width, sizes.norm_decay, sizes.variant)
    if isinstance(sizes, DenseNetRecipe):
        return DenseNet(outputs, sizes.size, sizes.growth, sizes.variant, sizes.norm_decay)
    assert isinstance(sizes, HRNetRecipe)
    return HRNet(outputs, sizes.width, sizes.head, sizes.modules, sizes.blocks, sizes.norm_decay)


def build_task(recipe: Recipe, protocol: str) -> Classify:
    del protocol  # of words
    task, augment = _task(recipe), recipe.augment
    assert isinstance(augment, PhotoAugment)
    return Classify(
        classes=task.classes,
        background=task.background,
        label_smoothing=task.label_smoothing,
        picture=_picture(recipe),
        augment=augment,
    )


def _source(recipe: Recipe, records: PhotoRecords, kept: Positions) -> PhotoSource:
    task, augment = _task(recipe), recipe.augment
    assert isinstance(augment, PhotoAugment)
    return PhotoSource(
        records,
        kept,
        labels=records.labels(),
        first_label=0 if task.background else 1,
        names=("background", *task.classes) if task.background else task.classes,
        picture=_picture(recipe),
        augment=augment,
    )


def _check_names(recipe: Recipe, data: Path, records: PhotoRecords) -> None:
    """Raise DataError where the data calls a label by another name than the run does."""
    task = _task(recipe)
    if task.classes_from == "data":
        return
    others = [
        f"label {label} is `{theirs}` there and `{ours}` here"
        for label, (theirs, ours) in enumerate(
            zip(read_classes(data, records), task.classes, strict=False), 1
        )
        if theirs != ours and f"class {label}" not in (theirs, ours)
    ]
    if others:
        raise DataError(
            f"the classes of `{data}` are not those of the run: {'; '.join(others[:3])}"
            + (f"; and {len(others) - 3} more" if len(others) > 3 else ""),
            hint="give data with the same classes; add --set task.classes_from=data if only "
            "the names differ, or if a new run is to learn these classes",
        )


def _first_label(data: Path) -> int | None:
    """Return where labels begin as the training records have them: a split may lack a class."""
    if not has_photo_records(data, "train"):
        return None
    return PhotoRecords(find_photo_records(data, "train")).first_label


def _outputs(recipe: Recipe) -> int:
    task = _task(recipe)
    return len(task.classes) + task.background


def _task(recipe: Recipe) -> ClassifyRecipe:
    assert isinstance(recipe.task, ClassifyRecipe)
    return recipe.task


def _picture(recipe: Recipe) -> PhotoPicture:
    assert isinstance(recipe.picture, PhotoPicture)
    return recipe.picture
