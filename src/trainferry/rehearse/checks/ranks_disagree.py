"""Ranks meet in a collective but not with the same.

A collective joins tensors of one dtype and shape, with one reduction and one root, in one group.
Where ranks differ, the device hangs or exchanges wrong numbers. A smaller last batch on one rank
is a common reason.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "give every rank the same collective: operator, group, reduction, dtype and shape",
)
