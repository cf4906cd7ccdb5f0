"""A variable is reduced in place.

HCCL reduces tensors; the memory of a variable is its own.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "give `tf.identity` of it",
)
