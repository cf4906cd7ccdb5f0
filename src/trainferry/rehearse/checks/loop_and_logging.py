"""Summaries or logs do not fall on the end of a loop.

With `iterations_per_loop` N the host sees every Nth step only. `save_summary_steps` and
`log_step_count_steps` that are no multiple of N come at other steps than they say.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.RISK,
    "make the interval a multiple of `iterations_per_loop`",
)
