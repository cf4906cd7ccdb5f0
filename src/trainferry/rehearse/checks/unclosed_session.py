"""A session for the NPU is never closed.

The device frees the graphs and the memory of a session when it is closed, not when Python
forgets it. A process that leaves sessions open can hang at its end, and the next one finds the
device in use.

Write `with tf.Session(config=config) as sess:`, or call `sess.close()`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.options import places_of_session
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    # A script that was stopped at the last step had no chance to close anything.
    if rank.facts.end is None or rank.facts.end.reason != "script":
        return
    for session in rank.facts.sessions:
        if session.config.get("npu_entries") and not session.closed:
            yield Finding(
                "unclosed-session",
                Severity.RISK,
                "a session for the NPU is never closed",
                "open it with `with`, or call `close()`",
                places_of_session(session),
            )
