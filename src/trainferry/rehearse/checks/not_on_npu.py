"""A train step does not run on the NPU.

Only sessions whose configuration has an entry called `NpuOptimizer` hand their graphs over. The
newest adapter adds it to every session once `npu_bridge.npu_init` is imported; with older ones,
or without that import, the step trains on the processor of the host. `use_off_line` False does
the same.

Pass the configuration through `npu_config_proto(...)`, or give an Estimator an `NPURunConfig`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.options import places_of_session
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        if step.session is None:
            continue
        if not step.session.config.get("npu_entries"):
            message = "a train step runs in a session that does not use the NPU"
            hint = "pass the configuration through `npu_config_proto(...)`"
        elif step.options.get("use_off_line") is False:
            message = "a train step runs on the host: `use_off_line` is False"
            hint = "set `use_off_line` to True"
        else:
            continue
        places = places_of_session(step.session)
        yield Finding("not-on-npu", Severity.REFUSED, message, hint, places)
