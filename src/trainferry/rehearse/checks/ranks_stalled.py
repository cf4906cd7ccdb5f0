"""All ranks wait, each for something else.

Rank 0 waits in one collective while rank 1 waits in another: on the device both wait until their
time is up. It comes from code that runs on one rank only, or from runs in different order.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "let every rank run the same collectives in the same order",
)
