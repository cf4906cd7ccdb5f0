"""Asking a network about pictures; one that cannot be read stops nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trainferry.errors import DataError, PictureError
from trainferry.train.data.picture_names import PICTURE_SUFFIXES, is_picture
from trainferry.train.data.pictures import Picture
from trainferry.train.export.onnx.sign_facts import SignFacts
from trainferry.train.predict.answers import Answer, Decode
from trainferry.train.predict.reader import Reader

_BATCH = 32
_ADDRESS = re.compile(r"(https?|ftp|s3):/")  # a path has one slash of the two


@dataclass(frozen=True)
class Prediction:
    """The answer to one picture, or why there is none; `picture` is as it is in its file.

    `views` says how many views of a sign were given; the others were filled with noise.
    """

    path: Path
    answer: Answer | None = None
    picture: Picture | None = None
    problem: str | None = None
    views: int | None = None

    def to_json(self) -> dict[str, Any]:
        if self.answer is None:
            return {"picture": str(self.path), "problem": self.problem}
        views = {} if self.views is None else {"views": self.views}
        return {"picture": str(self.path), **self.answer.to_json(), **views}


def find_pictures(paths: Iterable[Path]) -> list[Path]:
    """Return the files given, and all pictures below the folders given, in natural order."""
    found: list[Path] = []
    for path in paths:
        if _ADDRESS.match(str(path)):
            raise DataError(
                f"`{path}` is an address, and pictures are files here", hint="download it first"
            )
        if not path.is_dir():
            found.append(path)
            continue
        inside = [each for each in path.rglob("*") if is_picture(each.name) and each.is_file()]
        if not inside:
            raise DataError(
                f"there is no picture in `{path}`",
                hint=f"pictures are files that end in {', '.join(PICTURE_SUFFIXES)}",
            )
        found += sorted(inside, key=_natural)
    return found


def predict(reader: Reader, paths: Sequence[Path], decode: Decode) -> Iterator[Prediction]:
    """Read every picture, in order; one that cannot be read says so and the others go on."""
    for start in range(0, len(paths), _BATCH):
        yield from _predict_batch(reader, paths[start : start + _BATCH], decode)


def _predict_batch(reader: Reader, paths: Sequence[Path], decode: Decode) -> list[Prediction]:
    loaded: dict[int, tuple[Picture, Picture]] = {}
    problems: dict[int, str] = {}
    for number, path in enumerate(paths):
        try:
            loaded[number] = reader.load(path)
        except PictureError as error:
            problems[number] = str(error)
    answers: dict[int, Answer] = {}
    if loaded:
        logits = reader.logits(np.stack([prepared for _, prepared in loaded.values()]))
        answers = dict(zip(loaded, decode(logits), strict=True))
    return [
        Prediction(path, problem=problems[number])
        if number in problems
        else Prediction(
            path, answers[number], loaded[number][0], views=_views(reader, path, loaded[number][0])
        )
        for number, path in enumerate(paths)
    ]


def _views(reader: Reader, path: Path, picture: Picture) -> int | None:
    facts = reader.facts
    if not isinstance(facts, SignFacts):
        return None
    files = len(reader.files_of(path))
    return facts.picture.views if files == 1 and facts.is_strip(picture) else files


def _natural(path: Path) -> list[tuple[int, str]]:
    """Word 2 comes before word 10."""
    return [
        (int(part), "") if part.isdecimal() else (0, part)
        for part in re.split(r"(\d+)", path.as_posix())
    ]
