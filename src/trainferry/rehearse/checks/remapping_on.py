"""TensorFlow's own rewriting of operators is on beside the NPU's.

With `remapping` TensorFlow joins operators into ones that the NPU does not have. The newest
adapter turns it off in every session; older ones leave that to the script.

    config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.options import session_places
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for places, config in session_places(rank):
        if config.get("npu_entries") and config.get("remapping") not in ("OFF", 2):
            yield Finding(
                "remapping-on",
                Severity.REFUSED,
                "a session for the NPU has `remapping` on",
                "set `rewrite_options.remapping = RewriterConfig.OFF`",
                places,
            )
