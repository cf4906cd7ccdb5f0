"""Numbers of an operator are too small for 16 bits.

What is below 3e-8 becomes zero in half precision. Gradients are often that small: weights behind
them stop learning. A loss scale moves them into the range. Found by `--precision`, in the steps
that were rehearsed, where a tenth or more of an operator's numbers vanish.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.RISK,
    "use `NPULossScaleOptimizer`, or a larger scale; or keep the operator in 32 bits with "
    "`keep_dtype_scope`",
)
