"""A run that would wait for ever on the device.

Ranks wait for one another and cannot meet; see the message for who waits where.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "let all ranks run the same collectives, in the same order",
)
