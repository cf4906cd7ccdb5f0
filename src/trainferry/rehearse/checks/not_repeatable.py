"""The original gives other numbers when it is run again.

Where original and migrated project part, the original is run again, thrice at most, with the same
seeds, batches and initial weights. If it parts from itself, something in it depends on chance that
no seed pins, and a comparison cannot tell more than that allows: differences up to ten times as
large are not laid to the migration, and the verdict is not `numbers differ` because of them.

A common cause is a variable that is read and assigned in one step without an order between the two,
for instance a learning rate that depends on `global_step` while `global_step.assign(...)` is run
beside the updates: a step may see the number of the next one. `tf.control_dependencies`, or
`optimizer.apply_gradients(..., global_step=...)`, gives them an order.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.RISK,
    "to compare closer, make the original repeatable: look for a variable that is read and assigned"
    " in one step without an order, for threads, and for randomness that no seed pins",
)
