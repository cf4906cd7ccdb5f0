"""Two options exclude each other, or one needs another.

Each is right by itself: `precision_mode` with `precision_mode_v2`, `modify_mixlist` without
mixed precision, `iterations_per_loop` with `mix_compile_mode`, a dump without its path, one of
`input_shape`, `dynamic_dims` and `dynamic_node_type` without the other two.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding
from trainferry.rehearse.tracing.option_conflicts import find_conflicts
from trainferry.rehearse.tracing.option_table import option_table
from trainferry.rehearse.tracing.options import npu_options
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for places, options in npu_options(rank):
        known = {
            name: value
            for name, value in options.items()
            if name in option_table() and option_table()[name].has_type(value)
        }
        for conflict in find_conflicts(known):
            yield Finding(
                "option-conflict", conflict.severity, conflict.message, conflict.hint, places
            )
