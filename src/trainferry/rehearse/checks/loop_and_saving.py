"""Checkpoints do not fall on the end of a loop.

With `iterations_per_loop` N the host sees every Nth step only, and saves between two loops. With an
interval that is no multiple of N, checkpoints come at other steps than it says; the vendor asks for
a multiple.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.RISK,
    "make `save_checkpoints_steps` a multiple of `iterations_per_loop`",
)
