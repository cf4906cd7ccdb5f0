"""The graphs of the ranks hold different collectives.

Collectives are matched by their place in the graph. A graph that is built differently on one
rank, by `if rank == 0:` around a summary or a metric, shifts that place, and the device hangs.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "build the same graph on every rank; take what only rank 0 needs out of the step",
)
