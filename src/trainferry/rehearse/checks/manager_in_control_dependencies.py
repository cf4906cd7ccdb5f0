"""A manager of the loss scale is made under `tf.control_dependencies`.

Its variables then wait for the operators named there, and the order in which the device reads
its overflow status changes.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.RISK,
    "make the manager before, outside of `tf.control_dependencies`",
)
