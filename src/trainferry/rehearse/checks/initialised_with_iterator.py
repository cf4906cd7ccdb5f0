"""One run initialises variables and an iterator together.

`session.run(tf.group(tf.global_variables_initializer(), iterator.initializer))` runs on the host
as it should. Handed to the device as one graph, the iterator pulls the whole run to the host, and
all variables are 0 on the device.

Initialise in two runs: first the variables, then the iterator.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import names_of
from trainferry.rehearse.tracing.rank import Rank

_ASSIGNS = ("Assign", "AssignVariableOp")


def on_rank(rank: Rank) -> Iterator[Finding]:
    for run in rank.facts.runs:
        operators = rank.facts.graphs[run.graph].by_name.values()
        makes = [one for one in operators if one.kind == "MakeIterator"]
        assigns = [one for one in operators if one.kind in _ASSIGNS]
        if makes and assigns and not run.train:
            yield Finding(
                "initialised-with-iterator",
                Severity.REFUSED,
                f"one run initialises an iterator and {len(assigns)} variables, which become 0 on"
                " the device",
                "run the initializer of the variables first, then that of the iterator",
                (run.place,) if run.place else (),
                names_of([*makes, *assigns]),
            )
