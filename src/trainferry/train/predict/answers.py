"""From class scores to what people read: texts with scores, or classes with probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from trainferry.errors import UsageError
from trainferry.train.export.onnx.photo_facts import PhotoFacts
from trainferry.train.export.onnx.sign_facts import SignFacts
from trainferry.train.predict.reader import Logits, Reader
from trainferry.train.tasks.decode import Lexicon, beam, greedy
from trainferry.train.tasks.spell import read_signs

BEAM_WIDTH = 100
TOP = 5


@dataclass(frozen=True)
class WordAnswer:
    """What was read from a picture; `character_scores` has one score per character."""

    text: str
    confidence: float
    character_scores: tuple[float, ...]

    def cells(self) -> list[str]:
        """Return what stands in one line: text, confidence, and the score of each character."""
        scores = " ".join(f"{score:.2f}" for score in self.character_scores)
        return [self.text, f"{self.confidence:.4f}", scores]

    def to_json(self) -> dict[str, Any]:
        characters = zip(self.text, self.character_scores, strict=True)
        return {
            "text": self.text,
            "confidence": round(self.confidence, 6),
            "characters": [
                {"character": character, "score": round(score, 6)}
                for character, score in characters
            ],
        }


class Guess(NamedTuple):
    """A class that a picture may belong to."""

    name: str
    probability: float


@dataclass(frozen=True)
class PhotoAnswer:
    """The likeliest classes of a picture, best first, with the probabilities of a softmax.

    It is taken over all classes of the network. A background has its share too: the
    originals keep it, and a network that chooses it was not trained on what it was shown.
    """

    guesses: tuple[Guess, ...]

    @property
    def text(self) -> str:
        return self.guesses[0].name

    @property
    def confidence(self) -> float:
        return self.guesses[0].probability

    def cells(self) -> list[str]:
        """Return what stands in one line: class and probability, as often as there are some."""
        return [cell for name, share in self.guesses for cell in (name, f"{share:.4f}")]

    def to_json(self) -> dict[str, Any]:
        return {
            "class": self.text,
            "confidence": round(self.confidence, 6),
            "classes": [
                {"class": guess.name, "probability": round(guess.probability, 6)}
                for guess in self.guesses
            ],
        }


Answer: TypeAlias = WordAnswer | PhotoAnswer
Decode: TypeAlias = Callable[[Logits], list[Answer]]


def choose_decoding(
    reader: Reader, width: int | None = None, lexicon: Lexicon | None = None
) -> Decode:
    """Take the best path through each word; with a beam width or a lexicon, search."""
    merge_repeated, alphabet = reader.words.merge_repeated, reader.alphabet
    if width is not None and width < 1:
        raise UsageError(f"a beam {width} wide holds nothing", hint="pass --beam 100, for example")
    searches = width is not None or lexicon is not None

    def decode(logits: Logits) -> list[Answer]:
        readings = (
            beam(logits, width or BEAM_WIDTH, lexicon)
            if searches
            else greedy(logits, merge_repeated=merge_repeated)
        )
        return [
            WordAnswer(alphabet.decode(each.classes), each.confidence, each.character_scores)
            for each in readings
        ]

    return decode


def choose_spelling(reader: Reader) -> Decode:
    """Take the best character of every place of a sign's text, up to its end."""
    charset = reader.signs.characters

    def decode(logits: Logits) -> list[Answer]:
        return [
            WordAnswer(each.text, each.confidence, each.character_scores)
            for each in read_signs(logits, charset)
        ]

    return decode


def choose_classes(reader: Reader, count: int = TOP) -> Decode:
    """Take the `count` likeliest classes of each photograph, or all if there are fewer."""
    names = reader.photos.names
    if count < 1:
        raise UsageError(f"the best {count} classes are none", hint="pass --top 5, for example")

    def decode(logits: Logits) -> list[Answer]:
        shares = probabilities(logits)
        best = np.argsort(-shares, axis=1, kind="stable")[:, :count]
        return [
            PhotoAnswer(tuple(Guess(names[each], float(row[each])) for each in order))
            for row, order in zip(shares, best, strict=True)
        ]

    return decode


def plain_decoding(reader: Reader) -> Decode:
    """Decode as an evaluation does, whatever the reader is for."""
    if isinstance(reader.facts, PhotoFacts):
        return choose_classes(reader, 1)
    if isinstance(reader.facts, SignFacts):
        return choose_spelling(reader)
    return choose_decoding(reader)


def probabilities(logits: Logits) -> Logits:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
