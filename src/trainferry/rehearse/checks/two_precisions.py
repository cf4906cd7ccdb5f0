"""TensorFlow's mixed precision is on beside the NPU's.

`auto_mixed_precision` of TensorFlow rewrites a graph to float16, and `precision_mode` of the NPU
does so again. Exactly one of them may.

Leave `enable_mixed_precision_graph_rewrite` and `TF_ENABLE_AUTO_MIXED_PRECISION` out; set
`precision_mode_v2`, and scale the loss with `NPULossScaleOptimizer`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.options import session_places
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for places, config in session_places(rank):
        if config.get("npu_entries") and config.get("auto_mixed_precision") == "ON":
            yield Finding(
                "two-precisions",
                Severity.REFUSED,
                "TensorFlow's own mixed precision is on in a session for the NPU",
                "leave it out and set `precision_mode_v2`",
                places,
            )
