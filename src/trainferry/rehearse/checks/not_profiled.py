"""A profiler of the device measures nothing in a rehearsal.

`Profiler` writes what the device did; here no profile is written.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.NOTE,
    "nothing; it has its effect on the device",
)
