"""What a batch holds that keeps any network from learning it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from trainferry.train.data.batch import Batch


@dataclass(frozen=True)
class Contradiction:
    """Two samples, by their numbers in the set, with the same picture and different labels."""

    samples: tuple[int, int]
    labels: tuple[str, str]


@dataclass(frozen=True)
class BatchFacts:
    """Counts over the rows of a batch; a small set may stand in it more than once."""

    rows: int
    different_samples: int
    different_pictures: int
    different_labels: int
    empty_labels: int
    plain_pictures: int  # of one colour all over
    contradicted: int = 0  # rows whose picture has more than one label
    contradictions: tuple[Contradiction, ...] = ()


def find_facts(batch: Batch, label_text: Callable[[int], str]) -> BatchFacts:
    """Look at pictures and labels; `label_text` says what the sample of a number shows."""
    numbers = batch.positions.tolist()
    labels = [str(label) for label in batch.labels.tolist()]
    pictures = [_fingerprint(picture) for picture in batch.images]
    labelled = _labels_of_pictures(numbers, pictures, labels)
    return BatchFacts(
        rows=len(numbers),
        different_samples=len(set(numbers)),
        different_pictures=len(labelled),
        different_labels=len(set(labels)),
        empty_labels=int((batch.lengths == 0).sum()),
        plain_pictures=sum(_is_plain(picture) for picture in batch.images),
        contradicted=sum(len(labelled[picture]) > 1 for picture in pictures),
        contradictions=tuple(
            Contradiction((first, other), (label_text(first), label_text(other)))
            for first, *others in (sorted(samples.values()) for samples in labelled.values())
            for other in others
        ),
    )


def _labels_of_pictures(
    numbers: Sequence[int], pictures: Sequence[bytes], labels: Sequence[str]
) -> dict[bytes, dict[str, int]]:
    """Return the labels of every picture, each with the number of a sample that has it."""
    labelled: dict[bytes, dict[str, int]] = defaultdict(dict)
    for number, picture, label in zip(numbers, pictures, labels, strict=True):
        labelled[picture].setdefault(label, number)
    return labelled


def _fingerprint(picture: Tensor) -> bytes:
    return hashlib.blake2b(picture.contiguous().numpy().tobytes(), digest_size=16).digest()


def _is_plain(picture: Tensor) -> bool:
    return bool((picture == picture[:1, :1]).all())
