"""How well words are read: named protocols, and sums over samples that are divided once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Self

from trainferry.errors import UsageError

_ALNUM36 = frozenset("0123456789abcdefghijklmnopqrstuvwxyz")


def _every(_truth: str) -> bool:
    return True


@dataclass(frozen=True)
class Protocol:
    """Which samples count and what two equal words are; `rule` is printed with every score.

    `batch` reproduces programs that drop the last samples when they do not fill a batch. With
    `empty_last_batch` they still divide by the number of batches that would have held them.
    """

    name: str
    rule: str
    fold: Callable[[str], str] = str
    counts: Callable[[str], bool] = _every
    batch: int = 1
    empty_last_batch: bool = False


@dataclass
class WordScore:
    """Counts words read under one protocol. All fields but the protocol are sums.

    A protocol with a batch needs all samples in their order in one score: merging several drops
    the tail of each.
    """

    protocol: Protocol
    samples: float = 0.0
    left_out: float = 0.0
    right_words: float = 0.0
    right_characters: float = 0.0
    edit_similarity: float = 0.0
    _tail: list[tuple[bool, float, float]] = field(default_factory=list, init=False, repr=False)

    def add(self, truth: str, read: str) -> bool:
        """Count one sample; say whether it was read right, or is left out by the protocol."""
        if not self.protocol.counts(truth):
            self.left_out += 1
            return True
        truth, read = self.protocol.fold(truth), self.protocol.fold(read)
        right = truth == read
        self._tail.append((right, character_accuracy(truth, read), edit_similarity(truth, read)))
        if len(self._tail) == self.protocol.batch:
            self.samples += len(self._tail)
            self.right_words += sum(right for right, _, _ in self._tail)
            self.right_characters += sum(characters for _, characters, _ in self._tail)
            self.edit_similarity += sum(similarity for _, _, similarity in self._tail)
            self._tail.clear()
        return right

    def merge(self, other: Self) -> None:
        for name, value in other.state().items():
            setattr(self, name, getattr(self, name) + value)

    def state(self) -> dict[str, float]:
        """Return the sums; those of several processes may be added key by key."""
        sums = {name: float(getattr(self, name)) for name in _sums()}
        sums["left_out"] += len(self._tail)
        return sums

    @classmethod
    def from_state(cls, protocol: Protocol, state: Mapping[str, float]) -> Self:
        return cls(protocol, **{name: state[name] for name in _sums()})

    def values(self) -> dict[str, float]:
        """Return the scores, higher is better, and how many samples they are of.

        Without samples the scores are 0.
        """
        divisor = self.samples
        if self.protocol.empty_last_batch and self._tail:
            divisor += self.protocol.batch
        divisor = max(divisor, 1.0)
        return {
            "sequence_accuracy": self.right_words / divisor,
            "character_accuracy": self.right_characters / divisor,
            "edit_similarity": self.edit_similarity / divisor,
            "samples": self.samples,
            "left_out": self.left_out + len(self._tail),
        }


def choose_protocol(name: str) -> Protocol:
    """Return the protocol called `name`."""
    if name not in PROTOCOLS:
        raise UsageError(
            f"there is no protocol `{name}`", hint=f"choose one of: {', '.join(PROTOCOLS)}"
        )
    return PROTOCOLS[name]


def character_accuracy(truth: str, read: str) -> float:
    """Return the share of characters read right at their place, as the originals define it.

    Characters beyond the length of the truth are ignored. An empty truth gives 1 if nothing was
    read, else 0.
    """
    if not truth:
        return float(not read)
    return sum(a == b for a, b in zip(truth, read, strict=False)) / len(truth)


def edit_similarity(truth: str, read: str) -> float:
    """Return 1 minus the edit distance divided by the longer length, as ICDAR does (1-NED)."""
    if truth == read:
        return 1.0
    return 1 - edit_distance(truth, read) / max(len(truth), len(read))


def edit_distance(truth: str, read: str) -> int:
    """Return how many characters must be changed, added or removed."""
    if _quick_distance is not None:
        return int(_quick_distance(truth, read))
    return plain_edit_distance(truth, read)


def plain_edit_distance(truth: str, read: str) -> int:
    """Return what `edit_distance` does, without any package."""
    row = list(range(len(read) + 1))
    for done, wanted in enumerate(truth, 1):
        diagonal, row[0] = row[0], done
        for place, got in enumerate(read, 1):
            change = diagonal + (wanted != got)
            diagonal = row[place]
            row[place] = min(change, row[place] + 1, row[place - 1] + 1)
    return row[-1]


def _sums() -> list[str]:
    return [field.name for field in fields(WordScore) if field.type == "float"]


def _keep_alnum36(text: str) -> str:
    return "".join(character for character in text.lower() if character in _ALNUM36)


def _has_alnum36(truth: str) -> bool:
    return bool(_keep_alnum36(truth))


def _is_long_alnum36(truth: str) -> bool:
    return len(truth) >= 3 and _ALNUM36.issuperset(truth.lower())


def _find_quick_distance() -> Callable[[str, str], int] | None:
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError:
        return None
    distance: Callable[[str, str], int] = Levenshtein.distance
    return distance


_quick_distance = _find_quick_distance()

PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol("exact", "every sample, compared character by character as it is"),
        Protocol(
            "alnum36",
            "lower case, only 0-9 and a-z are compared; labels with none of them are left out",
            _keep_alnum36,
            _has_alnum36,
        ),
        Protocol(
            "alnum36-min3",
            "lower case; only labels of 3 or more characters, all of them 0-9 or a-z",
            _keep_alnum36,
            _is_long_alnum36,
        ),
        Protocol(
            "zoo",
            "as the originals score their benchmarks: lower case, batches of 64, the tail dropped",
            str.lower,
            batch=64,
        ),
        Protocol(
            "zoo-synth90k",
            "as the originals score Synth90k: lower case, batches of 128, the tail dropped but "
            "its batch counted",
            str.lower,
            batch=128,
            empty_last_batch=True,
        ),
    )
}
