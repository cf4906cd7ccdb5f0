"""A train step computes with strings.

The device computes with numbers. Strings stay on the host, and a graph that is handed over as a
whole is refused for them; a few operators of strings exist on the device's small processors and
are a risk only, and so is a dataset whose elements hold strings that the step does not compute
with. Strings in the input pipeline, in summaries and in the text of `tf.Assert` do no harm.

Read and parse strings in the dataset (`dataset.map`). Use numbers for switches such as the
phase of training: `tf.constant(1, tf.int8)` for `tf.constant("train")`. Leave names of files and
other texts that are only carried along out of the elements.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.checks.host_only_operator import HOST_ONLY
from trainferry.rehearse.facts import Graph, Operator
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.operator_table import operator_table
from trainferry.rehearse.tracing.places import (
    kinds_of,
    names_of,
    number_of,
    places_of,
)
from trainferry.rehearse.tracing.rank import ITERATORS, Rank, TrainStep

_HARMLESS = ("Const", "Assert", "Print", "PrintV2", "NoOp", "Identity", "StringFormat")


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        found = [one for one in step.on_device if _computes_strings(one, step.graph)]
        if not found:
            yield from _carried(step)
            continue
        refused = [one for one in found if not _has_device(one)]
        mild = step.leaves_to_host or not refused
        yield Finding(
            "string-operator",
            Severity.RISK if mild else Severity.REFUSED,
            f"a train step computes with strings ({number_of(found)}):"
            f" {kinds_of(refused or found)}",
            "move them into the dataset, or use numbers",
            places_of(refused or found),
            names_of(found),
        )


def _carried(step: TrainStep) -> Iterator[Finding]:
    """Strings that an iterator gives and nothing computes with."""
    iterators = [one for one in step.on_device if one.kind in ITERATORS and _gives_strings(one)]
    if iterators:
        yield Finding(
            "string-operator",
            Severity.RISK,
            "the elements of the dataset hold strings, which come along to every train step",
            "leave them out of the elements at the end of the dataset",
            places_of(iterators),
            names_of(iterators),
        )


def _gives_strings(operator: Operator) -> bool:
    return any(output.dtype == "string" for output in operator.outputs)


def _computes_strings(operator: Operator, graph: Graph) -> bool:
    kind = operator.kind
    if kind in (*_HARMLESS, *ITERATORS) or kind in HOST_ONLY:
        return False
    if "Summary" in kind or _is_table(kind):
        return False
    dtypes = (*graph.input_dtypes(operator), *(output.dtype for output in operator.outputs))
    return "string" in dtypes


def _is_table(kind: str) -> bool:
    return "Table" in kind


def _has_device(operator: Operator) -> bool:
    listed = operator_table().get(operator.kind)
    return listed is not None and listed.runs_on == "cpu" and "string" in listed.dtypes
