"""The loss scale does not know how many ranks there are.

`NPULossScaleOptimizer(..., is_distributed=...)` decides whether the overflow status of all ranks
counts. If it is False with several ranks, one rank skips a step that the others make; if it is
True with one, the run waits for ranks that are not there.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "write `is_distributed=True` with several ranks, and False with one",
)
