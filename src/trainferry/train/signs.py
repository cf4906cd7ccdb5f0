"""What a run that spells the texts of signs is made of: its data, its network and its task."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from torch import nn

from trainferry.errors import DataError, UsageError
from trainferry.train.data.signs.charset import (
    NULL_NAME,
    Charset,
    find_charset,
    fsns_charset,
    read_charset,
)
from trainferry.train.data.signs.check import check_signs, require_enough
from trainferry.train.data.signs.records import SignRecords, find_signs
from trainferry.train.data.signs.source import SignSource
from trainferry.train.data.synthetic import SyntheticSource
from trainferry.train.networks.attention_decoder import Reader
from trainferry.train.networks.attention_ocr import AttentionOCR, Views
from trainferry.train.recipe.networks import AttentionOCRRecipe
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import SignAugment, SignPicture, SpellRecipe
from trainferry.train.scores.words import choose_protocol
from trainferry.train.tasks.spell import Spell

LONGEST_KEPT = 1000
"""Codes of the longest text that is read from records; longer than any network spells."""


def complete(recipe: Recipe, data: Path) -> Recipe:
    """Put the characters of the data into the recipe, where the recipe leaves them open."""
    if _task(recipe).charset_from == "recipe":
        return recipe
    if not data.is_dir():
        find_signs(data, "train")  # which says that there is no such folder
    file = find_charset(data)
    if file is None:
        raise DataError(
            f"no charset*.txt in `{data}`: codes mean nothing without the characters",
            hint="copy the charset file of these records into the folder; that of FSNS is "
            "charset_size=134.txt, and `trainferry data signs` and `data fsns` write it",
        )
    return with_charset(recipe, read_charset(file))


def complete_without_data(recipe: Recipe) -> tuple[Recipe, str | None]:
    """Take the characters of FSNS where none are known."""
    if _task(recipe).charset_from == "recipe":
        return recipe, None
    return with_charset(recipe, fsns_charset()), None


def with_charset(recipe: Recipe, charset: Charset) -> Recipe:
    entries = charset_entries(charset)
    task = dataclasses.replace(_task(recipe), charset=entries, charset_from="recipe")
    return dataclasses.replace(recipe, task=task)


def charset_entries(charset: Charset) -> tuple[str, ...]:
    """Return the characters that share each code, the one it reads as last, as a recipe has them.

    The null is the empty entry.
    """
    entries = [""] * charset.classes
    for code, character in charset.pairs:
        if character != NULL_NAME:
            entries[code] += character
    return tuple(entries)


def charset_of(entries: Sequence[str]) -> Charset:
    """Return the charset of a recipe: the inverse of `charset_entries`."""
    return Charset(
        tuple(
            (code, character)
            for code, entry in enumerate(entries)
            for character in entry or (NULL_NAME,)
        )
    )


def training_source(
    recipe: Recipe, data: Path, workers: int, say: Callable[[str], None]
) -> SignSource:
    """Return the samples that can be trained on; tell of those that cannot."""
    records = open_signs(recipe, find_signs(data, "train"))
    max_length = _task(recipe).max_length
    check = check_signs(records, max_length=max_length, processes=workers + 1)
    say(check.summary())
    require_enough(check, recipe.data.minimum_kept)
    return SignSource(records, check.kept, max_length)


def evaluation_source(recipe: Recipe, data: Path, split: str, protocol: str) -> SignSource:
    """Return every sample of a split, whether it can be read or not."""
    _check_protocol(protocol)
    records = open_signs(recipe, find_signs(data, split))
    return SignSource(records, np.arange(len(records)), _task(recipe).max_length)


def has_split(data: Path, split: str) -> bool:
    try:
        find_signs(data, split)
    except DataError:
        return False
    return True


def synthetic_source(recipe: Recipe, samples: int, pool: int) -> SyntheticSource:
    """Make random pictures with random texts."""
    task, picture = _task(recipe), _picture(recipe)
    charset = charset_of(task.charset)
    dice = np.random.default_rng(recipe.loop.seed)
    codes = np.delete(np.arange(charset.classes), charset.null)
    lengths = dice.integers(1, task.max_length + 1, pool)
    labels = dice.choice(codes, (pool, task.max_length))
    labels[np.arange(task.max_length) >= lengths[:, None]] = charset.null
    shape = (pool, picture.height, picture.views * picture.width, 3)
    return SyntheticSource(dice.integers(0, 256, shape, np.uint8), labels, lengths, samples)


def build_network(recipe: Recipe) -> nn.Module:
    sizes, task, picture = recipe.network, _task(recipe), _picture(recipe)
    assert isinstance(sizes, AttentionOCRRecipe)
    return AttentionOCR(
        len(task.charset),
        Views(picture.views, picture.height, picture.width),
        Reader(
            task.max_length, sizes.attention, sizes.autoregression, sizes.hidden, sizes.cell_clip
        ),
        endpoint=sizes.endpoint,
        coordinates=sizes.coordinates,
        norm_decay=sizes.norm_decay,
    )


def build_task(recipe: Recipe, protocol: str) -> Spell:
    task, augment = _task(recipe), recipe.augment
    assert isinstance(augment, SignAugment)
    _check_protocol(protocol)
    return Spell(
        charset_of(task.charset),
        task.max_length,
        label_smoothing=task.label_smoothing,
        count_nulls=task.count_nulls,
        picture=_picture(recipe),
        augment=augment,
        protocol=protocol,
    )


def open_signs(recipe: Recipe, paths: Sequence[Path]) -> SignRecords:
    """Open records with views of the recipe's size and codes of its charset."""
    picture = _picture(recipe)
    return SignRecords(
        paths,
        charset_of(_task(recipe).charset),
        views=picture.views,
        height=picture.height,
        view_width=picture.width,
        length=LONGEST_KEPT,
    )


def _check_protocol(name: str) -> None:
    if choose_protocol(name).batch > 1:
        raise UsageError(
            f"the protocol `{name}` is how the originals score words, and this run reads signs",
            hint="leave --protocol out: the scores of the original stand beside the exact ones",
        )


def _task(recipe: Recipe) -> SpellRecipe:
    assert isinstance(recipe.task, SpellRecipe)
    return recipe.task


def _picture(recipe: Recipe) -> SignPicture:
    assert isinstance(recipe.picture, SignPicture)
    return recipe.picture
