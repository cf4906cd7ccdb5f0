"""From class scores to readings: the best path here, the beam and word lists behind it.

Shapes: B samples, T columns, K classes (blank last).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainferry.train.tasks.beam import beam, beam_readings
from trainferry.train.tasks.lexicon import Lexicon, best_in_lexicon
from trainferry.train.tasks.reading import Reading

__all__ = ["Lexicon", "Reading", "beam", "beam_readings", "best_in_lexicon", "greedy"]

Logits = Tensor | NDArray[np.floating[Any]]


def greedy(logits: Logits, *, merge_repeated: bool = True) -> list[Reading]:
    """Read the best class of every column, then merge equal neighbours and drop blanks.

    Without `merge_repeated` only blanks are dropped, which is how the TensorFlow originals computed
    their accuracy while training: a character seen in two columns is read twice.
    """
    scores = torch.as_tensor(logits)
    exact = torch.float64 if scores.dtype == torch.float64 else torch.float32
    best = torch.softmax(scores, 2, dtype=exact).max(2)
    # Only two small tensors leave the device, not the scores of all classes.
    probabilities = best.values.cpu().numpy().astype(np.float64)
    classes = best.indices.cpu().numpy()
    return _collapse(probabilities, classes, scores.shape[2] - 1, merge_repeated)


def _collapse(
    probabilities: NDArray[np.float64],
    classes: NDArray[np.int64],
    blank: int,
    merge_repeated: bool,
) -> list[Reading]:
    samples, columns = classes.shape
    if samples == 0 or columns == 0:
        return [Reading((), 1.0, (), ())] * samples
    starts_run = np.ones((samples, columns), dtype=bool)
    if merge_repeated:
        starts_run[:, 1:] = classes[:, 1:] != classes[:, :-1]
    starts = np.flatnonzero(starts_run)
    highest = np.maximum.reduceat(probabilities.ravel(), starts)
    where = _first_highest(probabilities.ravel(), highest, starts)

    run_classes = classes.ravel()[starts]
    written = run_classes != blank
    counts = np.bincount(starts[written] // columns, minlength=samples)
    ends = np.cumsum(counts).tolist()
    characters = run_classes[written].tolist()
    character_scores = highest[written].tolist()
    character_columns = (where[written] % columns).tolist()
    lowest = probabilities.min(1).tolist()

    readings = []
    begin = 0
    for sample, end in enumerate(ends):
        own = tuple(character_scores[begin:end])
        readings.append(
            Reading(
                classes=tuple(characters[begin:end]),
                confidence=math.prod(own) if own else lowest[sample],
                character_scores=own,
                columns=tuple(character_columns[begin:end]),
            )
        )
        begin = end
    return readings


def _first_highest(
    values: NDArray[np.float64], highest: NDArray[np.float64], starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for each run, given where it starts, the first place of its highest value."""
    run = np.zeros(len(values), dtype=np.int64)
    run[starts] = 1
    run = np.cumsum(run) - 1
    places = np.flatnonzero(values == highest[run])
    first = starts.copy()
    # Backwards, because the last one written stays.
    first[run[places[::-1]]] = places[::-1]
    return first
