"""The input pipeline reads a variable.

A variable lives on the device once it was initialised there; the input pipeline runs on the
host and finds it empty.

Use a constant or a number of Python, or feed it through a placeholder of the iterator's
initializer.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.facts import DATA
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import names_of, places_of
from trainferry.rehearse.tracing.rank import Rank

_READS = ("VariableV2", "Variable", "VarHandleOp", "ReadVariableOp")


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        pipeline = {DATA, *step.pipeline_functions}
        found = [
            one for one in step.graph.operators if one.function in pipeline and one.kind in _READS
        ]
        if found:
            yield Finding(
                "variable-in-pipeline",
                Severity.REFUSED,
                "the input pipeline reads a variable, which is on the device",
                "use a constant, or a placeholder of the iterator's initializer",
                places_of(found),
                names_of(found),
            )
