"""Two threads of a rank run collectives.

Collectives are matched by the order in which a rank runs them. Threads run theirs when their turn
comes, on each rank in another order: one rank's summary then meets the other's train step, and the
device hangs or adds up what does not belong together. Weights that differ between ranks although
they were broadcast may come from it.

A thread that nobody wrote is that of `tf.train.Supervisor` and of slim's `train`, which writes
summaries by the clock: summaries of gradients hold collectives once the optimizer is wrapped.
Turn it off with `save_summaries_secs=0`, or leave gradients out of the summaries; compute what
needs all ranks in the thread that trains.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "run collectives in one thread; slim's summaries end with `save_summaries_secs=0`",
)
