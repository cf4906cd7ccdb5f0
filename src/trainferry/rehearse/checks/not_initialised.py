"""Ranks are asked for before communication is up.

`get_rank_id`, `get_rank_size` and their like answer only after collective communication was
started: by `npu_ops.initialize_system()` in a session of its own, by `init_resource()`, or by the
first run of a session for the NPU. `get_npu_rank_id` needs `init_resource()`.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.REFUSED,
    "run `npu_ops.initialize_system()` or call `init_resource()` first",
)
