"""Runs an original again: numbers that differ from run to run cannot be those of another."""

from __future__ import annotations

import time
from collections.abc import Callable

from trainferry.rehearse.compare import compare
from trainferry.rehearse.comparing.comparison import Comparison
from trainferry.rehearse.sides import Went
from trainferry.rehearse.tasks import Task, control_of

Run = Callable[[Task], Went]

_MOST = 3  # a race is not lost every time
_SECONDS = 120.0  # after which no other one begins


def find_noise(original: Went, apart: Comparison, run: Run) -> Comparison | None:
    """Compare the original with itself, until it differs or is believed not to.

    `apart` is how it differs from the migrated run. None where it did not come as far again.
    """
    noise = None
    began = time.monotonic()
    for number in range(1, _MOST + 1):
        if noise is not None and time.monotonic() - began > _SECONDS:
            break
        again = run(control_of(original.task, number))
        found = compare(again.homes[0], original.homes[0])
        if again.side.failed is not None or len(found.trained) < len(apart.trained):
            break
        noise = found
        if not noise.agrees:
            break
    return noise
