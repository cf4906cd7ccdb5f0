"""Checkpoints are saved by time with several devices.

Clocks of ranks differ, and saving is a run that all ranks have to make at the same step.
`save_checkpoints_secs` is not supported with several devices.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "give `save_checkpoints_steps`",
)
