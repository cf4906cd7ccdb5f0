"""Reading pictures of words: text, confidence, and a score for every character."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trainferry.errors import DataError, PictureError, UsageError
from trainferry.train.data.pictures import Picture
from trainferry.train.reader import Logits, Reader
from trainferry.train.tasks.decode import Lexicon, Reading, beam, greedy

PICTURE_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm")
BEAM_WIDTH = 100
_BATCH = 64

Decode = Callable[[Logits], list[Reading]]


@dataclass(frozen=True)
class Prediction:
    """What was read from one picture, or why nothing could be.

    `picture` is the picture as it is in its file, `character_scores` has one score per character.
    """

    path: Path
    text: str = ""
    confidence: float = 0.0
    character_scores: tuple[float, ...] = ()
    picture: Picture | None = None
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        if self.problem is not None:
            return {"picture": str(self.path), "problem": self.problem}
        characters = zip(self.text, self.character_scores, strict=True)
        return {
            "picture": str(self.path),
            "text": self.text,
            "confidence": round(self.confidence, 6),
            "characters": [
                {"character": character, "score": round(score, 6)}
                for character, score in characters
            ],
        }


def find_pictures(paths: Iterable[Path]) -> list[Path]:
    """Return the files given, and all pictures below the folders given, in natural order."""
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = [
            each
            for each in path.rglob("*")
            if each.suffix.lower() in PICTURE_ENDINGS and each.is_file()
        ]
        if not inside:
            raise DataError(
                f"there is no picture in `{path}`",
                hint=f"pictures are files that end in {', '.join(PICTURE_ENDINGS)}",
            )
        found += sorted(inside, key=_natural)
    return found


def choose_decoding(reader: Reader, width: int | None, lexicon: Lexicon | None) -> Decode:
    """Take the best path; with a beam width or a lexicon, search."""
    if width is not None and width < 1:
        raise UsageError(f"a beam {width} wide holds nothing", hint="pass --beam 100, for example")
    if width is None and lexicon is None:
        return lambda logits: greedy(logits, merge_repeated=reader.merge_repeated)
    return lambda logits: beam(logits, width or BEAM_WIDTH, lexicon)


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
    readings: dict[int, Reading] = {}
    if loaded:
        logits = reader.logits(np.stack([prepared for _, prepared in loaded.values()]))
        readings = dict(zip(loaded, decode(logits), strict=True))
    return [
        Prediction(path, problem=problems[number])
        if number in problems
        else Prediction(
            path,
            reader.alphabet.decode(readings[number].classes),
            readings[number].confidence,
            readings[number].character_scores,
            loaded[number][0],
        )
        for number, path in enumerate(paths)
    ]


def _natural(path: Path) -> list[tuple[int, str]]:
    """Word 2 comes before word 10."""
    return [
        (int(part), "") if part.isdecimal() else (0, part)
        for part in re.split(r"(\d+)", path.as_posix())
    ]
