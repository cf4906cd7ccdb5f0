"""What an exported file says about itself: one that reads words or signs, or names photographs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from trainferry import __version__
from trainferry.errors import ExportError
from trainferry.train.export.onnx.photo_facts import PhotoFacts, parse_photos
from trainferry.train.export.onnx.sign_facts import SignFacts, parse_signs
from trainferry.train.export.onnx.word_facts import WordFacts, parse_words
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import (
    ClassifyRecipe,
    PhotoPicture,
    SignPicture,
    SpellRecipe,
    WordPicture,
)
from trainferry.train.tasks.classify import BACKGROUND

Facts: TypeAlias = WordFacts | PhotoFacts | SignFacts

_PARSERS: dict[str, Callable[[Mapping[str, str]], Facts]] = {
    "recognise": parse_words,
    "classify": parse_photos,
    "spell": parse_signs,
}


def facts_of(recipe: Recipe, step: int, scores: Mapping[str, float] | None = None) -> Facts:
    """Return what there is to say about a network of this recipe."""
    task, picture, scores = recipe.task, recipe.picture, scores or {}
    if isinstance(task, ClassifyRecipe):
        assert isinstance(picture, PhotoPicture)
        names = (BACKGROUND, *task.classes) if task.background else task.classes
        return PhotoFacts(recipe.name, names, task.background, picture, step, __version__, scores)
    if isinstance(task, SpellRecipe):
        assert isinstance(picture, SignPicture)
        length = task.max_length
        return SignFacts(recipe.name, task.charset, length, picture, step, __version__, scores)
    assert isinstance(picture, WordPicture)
    return WordFacts(
        recipe=recipe.name,
        alphabet=task.alphabet,
        height=picture.height,
        width=picture.width,
        filter=picture.filter,
        scale=picture.scale,
        case=task.case,
        merge_repeated=task.merge_repeated,
        step=step,
        version=__version__,
        scores=scores,
    )


def parse_metadata(metadata: Mapping[str, str], file: str) -> Facts:
    """Read the facts back; an ONNX file of another origin is an ExportError.

    Files from before there were photographs do not say their task: they read words.
    """
    task = metadata.get("task", "recognise")
    if task not in _PARSERS:
        raise ExportError(
            f"`{file}` is for the task {task!r}, which is not known here",
            hint=f"the tasks are {', '.join(_PARSERS)}; a newer trainferry may know more",
        )
    try:
        return _PARSERS[task](metadata)
    except (KeyError, ValueError, TypeError) as error:
        raise ExportError(
            f"`{file}` does not say how it wants its pictures: {error}",
            hint="give a run, or a file that `trainferry export` wrote",
        ) from error
