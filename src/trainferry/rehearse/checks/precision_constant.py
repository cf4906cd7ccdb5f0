"""A constant does not fit into 16 bits.

In a mode of lower precision the device may compute with half precision (`fp16`), which knows
numbers from 6e-8 to 65504. An epsilon of 1e-8 becomes zero there, and a division or a logarithm
that it guards is no longer guarded; a mask of -1e9 becomes infinite, and a softmax over it NaN.
Found by `--precision`, which rounds what the layers compute.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.RISK,
    "take an epsilon of 1e-6 or more and a mask of -6e4, or keep the operator in 32 bits with "
    "`keep_dtype_scope`",
)
