"""Variables started with other values than in the other run.

An initializer that was replaced, or one with a seed of its own such as that of `DynamicRNN`, draws
other numbers. For the comparison the run got the values of the other one.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.NOTE,
    "nothing to do, unless the initial values matter: then give both the same initializer",
)
