"""A rank ends while others wait for it.

A collective needs all ranks. When one leaves early, because its data was shorter, an error ended
it, or only rank 0 runs a step more, the others wait until their time is up.

Give all ranks the same number of steps, and drop what is left of the data.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "let every rank make the same number of steps, and run the same code",
)
