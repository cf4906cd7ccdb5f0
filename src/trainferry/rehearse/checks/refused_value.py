"""The adapter refuses an argument.

A stand-in looked at an argument as the adapter does, and stopped the script where the adapter
would: the message says what is taken.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "give what the adapter takes",
)
