"""Options of GPUs are set in a session for the NPU.

`gpu_options`, `allow_growth`, `visible_device_list` and `device_count={"GPU": n}` have no effect
there. A list of visible devices often chose the GPU of a rank; on the NPU the environment
variable `ASCEND_DEVICE_ID` does.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.options import session_places
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for places, config in session_places(rank):
        # Keras sets what is experimental by itself.
        named = [name for name in config.get("gpu_options_set") or () if name != "experimental"]
        if config.get("npu_entries") and named:
            yield Finding(
                "gpu-options",
                Severity.NOTE,
                f"options of GPUs have no effect on the NPU: {', '.join(named)}",
                "leave them out; `ASCEND_DEVICE_ID` chooses the device",
                places,
            )
