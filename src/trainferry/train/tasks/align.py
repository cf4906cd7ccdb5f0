"""Finds the columns in which a given reading stands.

Shapes: T columns, K classes (blank last).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trainferry.train.tasks.reading import Reading


def align_reading(
    log_probabilities: NDArray[np.float64], classes: Sequence[int], confidence: float
) -> Reading:
    """Return the reading `classes`, with columns and scores along its most probable path.

    `log_probabilities` are T K.
    """
    if not classes:
        return Reading((), confidence, (), ())
    path = _best_path(log_probabilities, classes)
    scores = []
    columns = []
    for place, character in enumerate(classes):
        own = np.flatnonzero(path == 2 * place + 1)
        best = int(own[np.argmax(log_probabilities[own, character])])
        columns.append(best)
        scores.append(float(np.exp(log_probabilities[best, character])))
    return Reading(tuple(classes), confidence, tuple(scores), tuple(columns))


def _best_path(log_probabilities: NDArray[np.float64], classes: Sequence[int]) -> NDArray[np.int64]:
    """Return the state (blank, first character, blank, ...) of every column."""
    columns, blank = len(log_probabilities), log_probabilities.shape[1] - 1
    states = np.full(2 * len(classes) + 1, blank)
    states[1::2] = classes
    jump = np.full(len(states), -np.inf)
    jump[2:][(states[2:] != blank) & (states[2:] != states[:-2])] = 0

    came_from = np.zeros((columns, len(states)), dtype=np.int64)
    score = np.full(len(states), -np.inf)
    score[:2] = log_probabilities[0, states[:2]]
    for column in range(1, columns):
        stay_step_jump = np.full((3, len(states)), -np.inf)
        stay_step_jump[0] = score
        stay_step_jump[1, 1:] = score[:-1]
        stay_step_jump[2, 2:] = score[:-2]
        stay_step_jump[2] += jump
        came_from[column] = stay_step_jump.argmax(0)
        score = stay_step_jump.max(0) + log_probabilities[column, states]

    path = np.zeros(columns, dtype=np.int64)
    path[-1] = len(states) - 1 - int(score[-2] > score[-1])
    for column in range(columns - 1, 0, -1):
        path[column - 1] = path[column] - came_from[column, path[column]]
    return path
