"""The pictures on which an exported file is compared with its network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from trainferry.errors import MissingPackageError, PictureError
from trainferry.train.build import OpenRun, evaluation_source
from trainferry.train.data.pictures import Picture
from trainferry.train.export.onnx.facts import Facts
from trainferry.train.export.onnx.photo_facts import PhotoFacts
from trainferry.train.export.onnx.sign_facts import SignFacts
from trainferry.train.export.onnx.word_facts import WordFacts
from trainferry.train.predict.reader import first_samples, run_reader

MOST_WORDS, MADE_WORDS = 512, 64
# A photograph is a hundred times the work of a word.
MOST_PHOTOS, MADE_PHOTOS = 128, 16
# A sign has several views, and its text is read in many steps.
MOST_SIGNS, MADE_SIGNS = 64, 8


@dataclass(frozen=True)
class Samples:
    """Prepared RGB pictures to compare on, where they come from, and their labels if known."""

    pictures: Sequence[Picture]
    origin: str
    labels: Sequence[str] = ()
    unreadable: int = 0


def samples_of_data(opened: OpenRun, data: Path, split: str) -> Samples:
    """Take the first readable samples of a split."""
    source = evaluation_source(opened.recipe, data, split)
    most = _most(run_reader(opened).facts)
    pictures, labels, unreadable = first_samples(source, most)
    return Samples(pictures, f"the {split} records of {data}", labels, unreadable)


def samples_of_pictures(opened: OpenRun, paths: Sequence[Path]) -> Samples:
    """Take a user's pictures; one that cannot be read is counted."""
    reader = run_reader(opened)
    pictures: list[Picture] = []
    unreadable = 0
    for path in paths:
        if len(pictures) == _most(reader.facts):
            break
        try:
            pictures.append(reader.load(path)[1])
        except PictureError:
            unreadable += 1
    return Samples(pictures, f"the first of {len(paths)} pictures given", unreadable=unreadable)


def made_samples(opened: OpenRun) -> Samples:
    """Render words or signs, or make up photographs."""
    facts = run_reader(opened).facts
    if isinstance(facts, WordFacts):
        return _rendered_words(facts)
    if isinstance(facts, SignFacts):
        return _rendered_signs(facts)
    pictures = [facts.prepare(picture) for picture in made_photographs(MADE_PHOTOS)]
    return Samples(pictures, "patches of colour made up for this, no photographs")


def made_photographs(count: int) -> Iterator[Picture]:
    """Smooth patches of colour, coarse and fine, in pictures of many proportions."""
    dice = np.random.default_rng(0)
    for _ in range(count):
        height, width = (int(size) for size in dice.integers(200, 500, 2))
        values = np.zeros((height, width, 3), np.float32)
        for patches, share in ((3, 0.6), (12, 0.3), (60, 0.1)):
            colours = dice.integers(0, 256, (patches, patches, 3), np.uint8)
            smooth = Image.fromarray(colours).resize((width, height), Image.Resampling.BICUBIC)
            values += share * np.asarray(smooth, np.float32)
        yield np.rint(values).astype(np.uint8)


def _rendered_words(facts: WordFacts) -> Samples:
    """Render words; where the renderer cannot run, take random dots, and say so."""
    from trainferry.train.data.render.words.make import WordsOptions, render_samples

    try:
        words = list(render_samples(WordsOptions(count=MADE_WORDS, split="export")))
    except MissingPackageError as error:
        dots = np.random.default_rng(0).integers(
            0, 256, (MADE_WORDS, facts.height, facts.width, 3), np.uint8
        )
        return Samples(list(dots), f"random dots, no words ({error})")
    pictures = [facts.prepare(word.picture) for word in words]
    texts = [word.text.label for word in words]
    texts = [text.lower() if facts.case == "lower" else text for text in texts]
    if not set(facts.alphabet).issuperset("".join(texts)):
        return Samples(
            pictures, "Latin words rendered for this, with letters that its alphabet has not"
        )
    return Samples(pictures, "words rendered for this", texts)


def _rendered_signs(facts: SignFacts) -> Samples:
    """Render signs; where the renderer cannot run, take random dots, and say so."""
    from trainferry.train.data.render.signs.make import SignsOptions, render_samples
    from trainferry.train.data.signs.example import VIEWS

    try:
        signs = render_samples(SignsOptions(MADE_SIGNS, split="test"))
    except MissingPackageError as error:
        shape = (MADE_SIGNS, facts.height, facts.width, 3)
        dots = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
        return Samples(list(dots), f"random dots, no signs ({error})")
    pictures = [
        facts.join(np.split(sign.picture, VIEWS, axis=1)[: facts.picture.views]) for sign in signs
    ]
    known = not any(facts.characters.unknown(sign.text) for sign in signs)
    labels = [facts.characters.canonical(sign.text) for sign in signs] if known else []
    return Samples(pictures, "signs rendered for this", labels)


def _most(facts: Facts) -> int:
    if isinstance(facts, PhotoFacts):
        return MOST_PHOTOS
    return MOST_WORDS if isinstance(facts, WordFacts) else MOST_SIGNS
