"""The number of steps is no multiple of the steps of a loop.

One loop on the device is `iterations_per_loop` steps, and it is run whole: training makes more
steps than were asked for, or the data ends within a loop, which is an error.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "make the number of steps a multiple of `iterations_per_loop`",
)
