"""An option of `NPURunConfig` has no effect, or another one than it seems.

The adapter takes the option and does not use it as it stands.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.RISK,
    "see the message",
)
