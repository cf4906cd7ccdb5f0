"""What was read from one picture, whichever way it was decoded."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """What was read from one picture.

    `confidence` is between 0 and 1. For the best path it is the product of `character_scores`, and
    for an empty reading the lowest probability of the blank in any column. For a beam it is the
    probability of the reading, summed over all its paths that were kept.

    A character's score is the highest probability that its class has in the neighbouring columns
    that it was read from; `columns` says where that is, counted from the left.
    """

    classes: tuple[int, ...]
    confidence: float
    character_scores: tuple[float, ...]
    columns: tuple[int, ...]
