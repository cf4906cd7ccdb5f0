"""What a rehearsal found: one fact about the project, how grave it is, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    """What would happen on the device."""

    REFUSED = "refused"  # it stops, hangs or computes something else
    RISK = "risk"  # it runs, but slower, or wrong in cases that were not seen here
    NOTE = "note"  # worth knowing


@dataclass(frozen=True)
class Finding:
    """One thing to know before the device is booked; `places` are lines of the user's code."""

    check: str
    severity: Severity
    message: str
    hint: str
    places: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
