"""An operator that the NPU has no published prototype for.

The vendor's own list of operators ships with its runtime. What is public, the plugins of
TensorFlow operators (April 2022) and the prototypes (March 2023), does not have this one. The
device may have learnt it since; if not, a graph that is handed over as a whole is refused.

Look it up in the operator list of your runtime. Else write it with other operators, or leave it
to the host with `mix_compile_mode`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.checks.host_only_operator import HOST_ONLY
from trainferry.rehearse.facts import Graph, Operator
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.operator_table import operator_table
from trainferry.rehearse.tracing.places import names_of, number_of, places_of
from trainferry.rehearse.tracing.rank import ITERATORS, PLACEHOLDERS, Rank
from trainferry.rehearse.tracing.shapes import QUEUES

# Parts of graphs that are handled before operators are chosen, or have a check of their own.
_STRUCTURE = frozenset(
    {
        *ITERATORS,
        *PLACEHOLDERS,
        *QUEUES,
        "Variable",
        "Merge",
        "RefMerge",
        "RefSwitch",
        "RefIdentity",
        "StatefulPartitionedCall",
        "PartitionedCall",
        "If",
        "StatelessIf",
        "While",
        "StatelessWhile",
        "Case",
        "SymbolicGradient",
        "FakeParam",
        "_Retval",
        "VarIsInitializedOp",
        "MergeSummary",
        "RestoreV2",
        "SaveV2",
    }
)


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        groups: dict[str, list[Operator]] = {}
        for one in step.on_device:
            if not _is_known(one, step.graph):
                groups.setdefault(one.kind, []).append(one)
        for kind, operators in groups.items():
            yield Finding(
                "operator-not-listed",
                Severity.RISK,
                f"the NPU has no published prototype of `{kind}` ({number_of(operators)})",
                "look it up in the operator list of your runtime",
                places_of(operators),
                names_of(operators),
            )


def _is_known(operator: Operator, graph: Graph) -> bool:
    kind = operator.kind
    return (
        kind in operator_table()
        or kind in _STRUCTURE
        or kind in HOST_ONLY
        or kind in graph.functions
        or "Summary" in kind
        or kind.startswith(("Queue", "Reader", "TensorList"))
        or kind.endswith(("QueueV2", "ReaderV2"))
    )
