"""An optimizer is wrapped twice.

Each wrapper reduces the gradients over all ranks: twice the traffic, and sums that are divided
once too often.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "wrap each optimizer once",
)
