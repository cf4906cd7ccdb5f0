"""What a run that reads words is made of: its data, its network and its task."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from torch import nn

from trainferry.errors import DataError, RecordError
from trainferry.train.data.synthetic import SyntheticSource
from trainferry.train.data.tfrecord import find_records, has_records
from trainferry.train.data.words.alphabet import ORD_MAP, Alphabet, find_ord_map, read_alphabet
from trainferry.train.data.words.check import check_words, require_enough
from trainferry.train.data.words.records import WordRecords
from trainferry.train.data.words.source import WordSource
from trainferry.train.networks.crnn import CRNN, columns_of
from trainferry.train.recipe.networks import CRNNRecipe
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import RecogniseRecipe, WordAugment, WordPicture
from trainferry.train.scores.words import choose_protocol
from trainferry.train.tasks.recognise import Recognise

_PLACEHOLDERS = "".join(map(chr, range(0x4E00, 0x4E00 + 5824)))


def complete(recipe: Recipe, data: Path) -> Recipe:
    """Put the characters of the data into the recipe, where the recipe leaves them open."""
    task = _task(recipe)
    if task.alphabet_from == "recipe":
        return recipe
    if data.is_dir() and find_ord_map(data) is None:
        raise DataError(
            f"`{data}` has no {ORD_MAP}, and `{recipe.name}` takes its characters from there",
            hint="take them from the labels: "
            f"`trainferry data alphabet {data} --case {task.case}`; "
            f"records of class numbers need the {ORD_MAP} that was made with them",
        )
    return _with_alphabet(recipe, read_alphabet(data).characters)


def complete_without_data(recipe: Recipe) -> tuple[Recipe, str | None]:
    """Put as many placeholders as there are usual Chinese characters where none are known."""
    if _task(recipe).alphabet_from == "recipe":
        return recipe, None
    return _with_alphabet(recipe, _PLACEHOLDERS), (
        f"the characters of `{recipe.name}` come with the data; timed with "
        f"{len(_PLACEHOLDERS)} placeholders from U+4E00 on"
    )


def training_source(
    recipe: Recipe, data: Path, workers: int, say: Callable[[str], None]
) -> WordSource:
    """Return the samples that can be trained on; tell of those that cannot."""
    task, picture = _task(recipe), _picture(recipe)
    records = open_words(recipe, find_records(data, "train"))
    check = check_words(
        records,
        columns=columns_of(picture.width),
        max_length=task.max_length,
        pictures=False,
        processes=workers + 1,
    )
    say(check.summary())
    require_enough(check, recipe.data.minimum_kept)
    return WordSource(records, Alphabet(task.alphabet), check.kept, task.max_length)


def evaluation_source(recipe: Recipe, data: Path, split: str, protocol: str) -> WordSource:
    """Return the samples of a split that the protocol counts, whether they can be read or not."""
    rule = choose_protocol(protocol)
    records = open_words(recipe, find_records(data, split))
    texts = [_text_or_damage(records, number) for number in range(len(records))]
    kept = [number for number, text in enumerate(texts) if text is None or rule.counts(text)]
    if all(texts[number] is None for number in kept):
        raise DataError(
            f"the protocol `{rule.name}` counts none of the {len(records)} samples",
            hint=rule.rule,
        )
    longest = max(len(texts[number] or "") for number in kept)
    alphabet = Alphabet(_task(recipe).alphabet)
    return WordSource(records, alphabet, np.array(kept), max(longest, 1))


def has_split(data: Path, split: str) -> bool:
    return has_records(data, split)


def synthetic_source(recipe: Recipe, samples: int, pool: int) -> SyntheticSource:
    """Make random pictures with random labels that fit into the columns."""
    task, picture = _task(recipe), _picture(recipe)
    dice = np.random.default_rng(recipe.loop.seed)
    blank = len(task.alphabet)
    # Half the columns is enough for a label that repeats one character.
    longest = max(1, min(task.max_length, columns_of(picture.width) // 2))
    lengths = dice.integers(1, longest + 1, pool)
    labels = dice.integers(0, blank, (pool, task.max_length))
    labels[np.arange(task.max_length) >= lengths[:, None]] = blank
    images = dice.integers(0, 256, (pool, picture.height, picture.width, 3), np.uint8)
    return SyntheticSource(images, labels, lengths, samples)


def build_network(recipe: Recipe) -> nn.Module:
    sizes = recipe.network
    assert isinstance(sizes, CRNNRecipe)
    return CRNN(
        len(_task(recipe).alphabet) + 1,
        channels=sizes.channels,
        hidden=sizes.hidden,
        layers=sizes.layers,
        dropout=sizes.dropout,
        norm_decay=sizes.norm_decay,
        identical_kernels=sizes.identical_kernels,
    )


def build_task(recipe: Recipe, protocol: str) -> Recognise:
    task, augment = _task(recipe), recipe.augment
    assert isinstance(augment, WordAugment)
    return Recognise(
        Alphabet(task.alphabet),
        task.max_length,
        merge_repeated=task.merge_repeated,
        protocol=protocol,
        picture=_picture(recipe),
        augment=augment,
    )


def open_words(recipe: Recipe, paths: Sequence[Path]) -> WordRecords:
    task, picture = _task(recipe), _picture(recipe)
    return WordRecords(
        paths,
        Alphabet(task.alphabet),
        case=task.case,
        height=picture.height,
        width=picture.width,
        filter=picture.filter,
        order=picture.order,
    )


def _task(recipe: Recipe) -> RecogniseRecipe:
    assert isinstance(recipe.task, RecogniseRecipe)
    return recipe.task


def _picture(recipe: Recipe) -> WordPicture:
    assert isinstance(recipe.picture, WordPicture)
    return recipe.picture


def _with_alphabet(recipe: Recipe, characters: str) -> Recipe:
    task = dataclasses.replace(_task(recipe), alphabet=characters, alphabet_from="recipe")
    return dataclasses.replace(recipe, task=task)


def _text_or_damage(records: WordRecords, number: int) -> str | None:
    """Return the label, or None: a damaged record stays in the set, to be counted as such."""
    try:
        return records.text(number)
    except RecordError:
        return None
