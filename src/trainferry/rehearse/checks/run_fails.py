"""A run that the device would end with an error.

A stand-in met values that the device does not take, such as data that ends in the middle of a
loop on the device.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "see the message",
)
