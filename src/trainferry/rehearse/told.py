"""Checks that are made while the script runs: a stand-in or the hub tells of them by name."""

from __future__ import annotations

from dataclasses import dataclass

from trainferry.rehearse.finding import Severity


@dataclass(frozen=True)
class Told:
    """How grave it is when a note or the hub has this name, and what to do then."""

    severity: Severity
    hint: str
