"""`npu_compile` does nothing in a rehearsal.

It compiles a graph on the device before the first run; here there is nothing to compile.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.NOTE,
    "nothing; it has its effect on the device",
)
