"""A session has two entries for the NPU.

`npu_config_proto()` adds an entry called `NpuOptimizer`; a script that adds another has two.
The adapter reads all of them, and later values win over earlier ones: which options hold depends
on the order.

Change the entry that is there, or give `npu_config_proto` a config that has one already.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.options import session_places
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for places, config in session_places(rank):
        entries = config.get("npu_entries", ())
        if len(entries) > 1:
            names = sorted({name for entry in entries for name in entry})
            both = [name for name in names if sum(name in entry for entry in entries) > 1]
            more = f"; {', '.join(f'`{name}`' for name in both)} in more than one" if both else ""
            yield Finding(
                "two-npu-entries",
                Severity.RISK,
                f"a session has {len(entries)} entries called `NpuOptimizer`{more}",
                "keep one, with all options in it",
                places,
            )
