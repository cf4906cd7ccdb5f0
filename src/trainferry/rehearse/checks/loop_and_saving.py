"""Checkpoints do not fall on the end of a loop.

With `iterations_per_loop` N the host sees every Nth step only. Checkpoints are saved between two
loops: their interval has to be a multiple of N.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "make `save_checkpoints_steps` a multiple of `iterations_per_loop`",
)
