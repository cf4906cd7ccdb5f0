"""Numbers of an operator are beyond 16 bits.

Half precision ends at 65504. What is larger becomes infinite, and soon NaN. In gradients this is
what a loss scale reckons with: the step is skipped and the scale halved. In the forward pass
nothing skips it. Found by `--precision`, in the steps that were rehearsed.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.RISK,
    "in the forward pass: normalise before it, or keep the operator in 32 bits with "
    "`keep_dtype_scope`; in gradients: start with a smaller loss scale, or let it adapt",
)
