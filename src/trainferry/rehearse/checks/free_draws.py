"""A random operator has no partner in the other run.

Randomness is pinned by giving each random operator a seed that depends on its name, or on its turn
among those of its kind. One that only one run has draws numbers that the other run never sees.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.NOTE,
    "give random operators the same names or seeds in both, or rehearse without them",
)
