"""Optimizers of TensorFlow that the NPU counts on are turned off.

The adapter expects graphs as TensorFlow's own optimizers leave them: constants folded, functions
in line, unused operators gone. Scripts that were made to debug a GPU sometimes turn these off.

Leave `function_optimization`, `constant_folding`, `shape_optimization`,
`arithmetic_optimization`, `loop_optimization`, `dependency_optimization` and `layout_optimizer`
at their defaults, and `disable_model_pruning` and `disable_meta_optimizer` at False.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.options import session_places
from trainferry.rehearse.tracing.rank import Rank

_NEEDED = (
    "function_optimization",
    "constant_folding",
    "shape_optimization",
    "arithmetic_optimization",
    "loop_optimization",
    "dependency_optimization",
    "layout_optimizer",
)
_SWITCHES = ("disable_model_pruning", "disable_meta_optimizer")


def on_rank(rank: Rank) -> Iterator[Finding]:
    for places, config in session_places(rank):
        if not config.get("npu_entries"):
            continue
        off = [name for name in _NEEDED if config.get(name) == "OFF"]
        off += [name for name in _SWITCHES if config.get(name) is True]
        if off:
            yield Finding(
                "graph-optimizers-off",
                Severity.RISK,
                f"a session for the NPU turns off what the adapter counts on: {', '.join(off)}",
                "leave them at their defaults",
                places,
            )
