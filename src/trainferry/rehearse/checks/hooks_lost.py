"""Hooks or callbacks of the script are lost.

`npu_hooks_append` and `npu_callbacks_append` add to a list. Given a tuple, the adapter takes a
list of its own, and the script's hooks never run.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "give a list",
)
