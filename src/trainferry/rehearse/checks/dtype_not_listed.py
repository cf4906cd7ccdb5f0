"""An operator in a dtype that its prototype on the NPU does not name.

The prototypes that the vendor published say for each operator which dtypes it takes. This
operator is among them, this dtype is not: the device may cast, move the operator to its small
processors, or refuse the graph. The published prototypes are of March 2023; a newer runtime may
take more.

Cast to a dtype that is listed.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.facts import Operator
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.operator_table import operator_table
from trainferry.rehearse.tracing.places import names_of, number_of, places_of
from trainferry.rehearse.tracing.rank import Rank

_SIGNS, _BITS = ("", "u"), (8, 16, 32, 64)
_NUMBERS = (*(f"{sign}int{bits}" for sign in _SIGNS for bits in _BITS), "float16", "float32")


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        groups: dict[tuple[str, str], list[Operator]] = {}
        for one in step.on_device:
            listed = operator_table().get(one.kind)
            if listed is None or listed.runs_on == "compiler":
                continue
            for dtype in step.graph.input_dtypes(one):
                if dtype in _NUMBERS and not listed.takes(dtype):
                    groups.setdefault((one.kind, dtype), []).append(one)
        for (kind, dtype), operators in groups.items():
            yield Finding(
                "dtype-not-listed",
                Severity.RISK,
                f"`{kind}` has no prototype for {dtype} ({number_of(operators)})",
                f"cast to one of {', '.join(sorted(operator_table()[kind].dtypes))}",
                places_of(operators),
                names_of(operators),
            )
