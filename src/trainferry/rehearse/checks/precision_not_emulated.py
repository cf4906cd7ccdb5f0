"""Some operators were not rounded by `--precision`.

A session takes a graph as it is at its first run; operators that it has cannot be changed any
more. Where a script runs something before it builds its optimizer, what it had by then and reads
no weights keeps 32 bits in the emulation.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.NOTE,
    "build the whole graph before the first `Session.run`, also for the device: each change "
    "compiles it anew",
)
