"""Whether an exported file says what its network says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trainferry.errors import DataError, ExportError
from trainferry.train.export.onnx.photo_facts import PhotoFacts
from trainferry.train.export.onnx.sign_facts import SignFacts
from trainferry.train.export.samples import Samples
from trainferry.train.predict.answers import plain_decoding, probabilities
from trainferry.train.predict.reader import Attention, Logits, Pictures, Reader

TOLERANCE = 1e-4
_LARGE_LOGIT = 100
_BATCH = 32


@dataclass(frozen=True)
class Comparison:
    """What the file and the network said to the same pictures.

    Logits are compared in parts of the largest one: two fp32 programs that add the same
    numbers in another order part by more than 1e-4 where logits are large, and both are
    as far from the float64 result. Probabilities need no such yardstick, unless logits are
    larger than those of any trained network: they are as uncertain as what they are made of.

    A network that reads on after what it read itself goes another way once two classes are as
    good as each other and rounding decides. `parted` samples are compared up to there; a text
    that is read differently is a difference all the same.
    """

    samples: int
    origin: str
    unreadable: int
    largest_difference: float  # of logits
    largest_logit: float
    probability_difference: float
    read_differently: int
    right: int | None  # of the answers of the file, where the true ones are known
    answers: Literal["texts", "classes"] = "texts"
    attention_difference: float | None = None
    parted: int = 0

    @property
    def relative_difference(self) -> float:
        """The largest difference of logits, in parts of the largest logit."""
        return self.largest_difference / max(self.largest_logit, 1e-30)

    @property
    def verb(self) -> str:
        return "read" if self.answers == "texts" else "named"

    def check(self) -> None:
        """Raise ExportError unless the file says what the network says."""
        accepted = TOLERANCE * max(1.0, self.largest_logit / _LARGE_LOGIT)
        # Written so that NaN fails too.
        close = self.relative_difference <= TOLERANCE and self.probability_difference <= accepted
        if self.attention_difference is not None:
            close = close and self.attention_difference <= accepted
        if not close or self.read_differently:
            raise ExportError(
                f"the exported file and the network differ: logits by up to "
                f"{self.relative_difference:.2e} of the largest, probabilities by up to "
                f"{self.probability_difference:.2e}{self._attention()} (at most {TOLERANCE:.0e} is "
                "accepted), and "
                f"{self.read_differently} of {self.samples} {self.answers} are {self.verb} "
                "differently; no file was written",
                hint="try another onnxruntime version; a checkpoint with NaN differs always",
            )

    def _attention(self) -> str:
        found = self.attention_difference
        return "" if found is None else f", attention by up to {found:.2e}"


def compare(network: Reader, file: Reader, samples: Samples) -> Comparison:
    """Give every picture to both; the first one also alone, because the batch may have any size."""
    if not samples.pictures:
        raise DataError(
            f"there is no picture to compare on in {samples.origin}",
            hint="give other --data or --pictures, or neither to compare on made-up ones",
        )
    parts = [samples.pictures[:1]]
    parts += [
        samples.pictures[start : start + _BATCH]
        for start in range(0, len(samples.pictures), _BATCH)
    ]
    found = [_compare_part(network, file, np.stack(part)) for part in parts]
    answers = [answer for part in found[1:] for answer in part.answers]
    pairs = zip(answers, samples.labels, strict=True) if samples.labels else None
    looks = [part.attention_difference for part in found if part.attention_difference is not None]
    return Comparison(
        samples=len(samples.pictures),
        origin=samples.origin,
        unreadable=samples.unreadable,
        largest_difference=float(np.max([part.difference for part in found])),
        largest_logit=float(np.max([part.largest_logit for part in found])),
        probability_difference=float(np.max([part.probability_difference for part in found])),
        read_differently=sum(part.read_differently for part in found[1:]),
        right=None if pairs is None else sum(a == b for a, b in pairs),
        answers="classes" if isinstance(file.facts, PhotoFacts) else "texts",
        attention_difference=float(np.max(looks)) if looks else None,
        parted=sum(part.parted for part in found[1:]),
    )


@dataclass(frozen=True)
class _Part:
    """What one batch tells."""

    difference: float
    largest_logit: float
    probability_difference: float
    attention_difference: float | None
    parted: int
    read_differently: int
    answers: list[str]


def _compare_part(network: Reader, file: Reader, pictures: Pictures) -> _Part:
    (expected, looked), (found, looked_too) = _ask(network, pictures), _ask(file, pictures)
    read = _read(file, found)
    differently = sum(a != b for a, b in zip(_read(network, expected), read, strict=True))
    together = np.ones(expected.shape[:-1], np.bool_)
    if isinstance(file.facts, SignFacts):
        together = _until_parted(expected, found)
    look_difference = None
    if looked is not None and looked_too is not None:
        look_difference = float(np.abs(looked - looked_too)[together].max())
    return _Part(
        difference=np.abs(expected - found)[together].max(),
        largest_logit=np.abs(expected).max(),
        probability_difference=np.abs(probabilities(expected) - probabilities(found))[
            together
        ].max(),
        attention_difference=look_difference,
        parted=int((~together).reshape(len(together), -1).any(1).sum()),
        read_differently=differently,
        answers=read,
    )


def _ask(reader: Reader, pictures: Pictures) -> tuple[Logits, Attention | None]:
    return (reader.logits(pictures), None) if reader.look is None else reader.look(pictures)


def _until_parted(one: Logits, other: Logits) -> NDArray[np.bool_]:
    """Say of each character, B L, whether both had read the same before it."""
    differs = one.argmax(2) != other.argmax(2)
    before = np.cumsum(differs, axis=1) - differs
    return np.asarray(before == 0)


def _read(reader: Reader, logits: Logits) -> list[str]:
    return [answer.text for answer in plain_decoding(reader)(logits)]
