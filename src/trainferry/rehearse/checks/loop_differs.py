"""The session and the train step disagree in the steps of a loop.

`parameter_map["iterations_per_loop"]` and `set_iteration_per_loop(sess, train_op, N)` must say the
same number.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "give both the same number",
)
