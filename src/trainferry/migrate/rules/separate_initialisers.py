"""Initialise variables and iterators in runs of their own.

Variables are initialised on the NPU, the iterator of a dataset on the host. When one run does
both, the adapter takes the graph apart, and all variables are left at zero: training starts, and
does not learn. Two runs, variables first, give what was meant.

    -sess.run([tf.global_variables_initializer(), iterator.initializer])
    +sess.run([tf.global_variables_initializer()])
    +sess.run([iterator.initializer])

By hand: runs whose result is used, initialisers that are first put together in a variable or
handed to something else, and iterators that are not known for certain.
Not touched: local variables and tables beside an iterator.

Source: Ascend TF Adapter 1.x migration guide, frequent problems, initialisation of iterators.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file
from trainferry.migrate.rules._dataflow import only_value, text_in_line
from trainferry.migrate.statements import insert_after

CONCERN = Concern.RESULT
LINT = True

_VARIABLES = frozenset(
    (
        "tf.global_variables_initializer",
        "tf.initialize_all_variables",
        "tf.initialize_variables",
        "tf.initializers.global_variables",
        "tf.initializers.variables",
        "tf.variables_initializer",
    )
)
_ITERATOR = "tf.data.Iterator"
_WHY = "variables that are initialised in one run with an iterator stay zero on an NPU"
_BETWEEN = re.compile(rb"\s*,\s*")

_Group: TypeAlias = ast.List | ast.Tuple | ast.Call


@on_file
def in_one_run(file: File) -> Iterator[Finding]:
    for run in _runs(file):
        fetches = run.args[0] if run.args else None
        if not isinstance(fetches, _Group) or not isinstance(run.func, ast.Attribute):
            continue
        iterators = _iterators_beside_variables(file, fetches)
        if not iterators:
            continue
        edits = _edits(file, run, fetches, iterators)
        if edits:
            yield Finding(Spot(file.source, run), Outcome.CHANGED, _WHY, edits)
        else:
            session = text_in_line(file, run.func.value)
            yield Finding(
                Spot(file.source, run), Outcome.BY_HAND, _advice(file, session, iterators)
            )


@on_call("tf.group")
def in_one_group(call: Call, file: File) -> Iterator[Finding]:
    if any(call.node in run.args[:1] for run in _runs(file)):
        return
    if iterators := _iterators_beside_variables(file, call.node):
        yield Finding(call, Outcome.BY_HAND, _advice(file, "sess", iterators))


@on_file
def in_one_list(file: File) -> Iterator[Finding]:
    """A list that a variable holds until it is run."""
    for run in _runs(file):
        name = run.args[0] if run.args else None
        held = only_value(file, name) if isinstance(name, ast.Name) else None
        if not isinstance(held, ast.List | ast.Tuple):
            continue
        if iterators := _iterators_beside_variables(file, held):
            advice = _advice(file, "sess", iterators)
            yield Finding(Spot(file.source, held), Outcome.BY_HAND, advice)


def _runs(file: File) -> Sequence[ast.Call]:
    """All `….run(…)`; none in the many files without an iterator."""
    data = file.source.data
    if b".initializer" not in data and b".make_initializer" not in data:
        return ()
    return file.names.attribute_calls(file.source, "run")


def _iterators_beside_variables(file: File, group: _Group) -> list[ast.expr]:
    elements = _elements(file, group)
    if not any(_initialises_variables(file, one) for one in elements):
        return []
    return [one for one in elements if _iterator_class(file, one) is not None]


def _elements(file: File, group: _Group) -> Sequence[ast.expr]:
    if isinstance(group, ast.Call):
        return group.args if file.full_name(group.func) == "tf.group" else ()
    return group.elts


def _initialises_variables(file: File, node: ast.expr) -> bool:
    value = only_value(file, node) if isinstance(node, ast.Name) else node
    return isinstance(value, ast.Call) and file.full_name(value.func) in _VARIABLES


def _iterator_class(file: File, node: ast.expr) -> str | None:
    """The class of the iterator that is initialised: the known one, or a guess by its name."""
    value = only_value(file, node) if isinstance(node, ast.Name) else node
    if isinstance(value, ast.Call):
        value = value.func
    if not isinstance(value, ast.Attribute) or value.attr not in (
        "initializer",
        "make_initializer",
    ):
        return None
    known = file.class_of(value.value)
    if known is not None:
        return known if known == _ITERATOR else None
    return "iterator?" if "iter" in file.text(value.value).lower() else None


def _edits(
    file: File, run: ast.Call, fetches: _Group, iterators: list[ast.expr]
) -> tuple[Edit, ...]:
    """Take the iterators out, and run them in a second statement; none where not certain."""
    statement = file.parent(run)
    if not isinstance(statement, ast.Expr) or len(file.text(run).splitlines()) > 1:
        return ()
    elements = _elements(file, fetches)
    is_certain = all(_iterator_class(file, one) == _ITERATOR for one in iterators)
    if not is_certain or iterators[:2] == elements[:2]:
        return ()
    removed = [_removed(file, elements, one) for one in iterators]
    rest = [file.text(one) for one in [*run.args[1:], *run.keywords]]
    fetched = f"[{', '.join(file.text(one) for one in iterators)}]"
    second = insert_after(file, statement, f"{file.text(run.func)}({', '.join([fetched, *rest])})")
    if second is None or None in removed:
        return ()
    return (*(edit for edit in removed if edit is not None), second)


def _removed(file: File, elements: Sequence[ast.expr], element: ast.expr) -> Edit | None:
    """Take an element out of a list with one of its commas."""
    index = elements.index(element)
    start, end = file.source.span(element)
    data = file.source.data
    if index > 0:
        before = file.source.span(elements[index - 1])[1]
        return Edit(before, end, "") if _BETWEEN.fullmatch(data, before, start) else None
    after = file.source.span(elements[1])[0]
    return Edit(start, after, "") if _BETWEEN.fullmatch(data, end, after) else None


def _advice(file: File, session: str, iterators: list[ast.expr]) -> str:
    texts = ", ".join(text_in_line(file, one) for one in iterators)
    texts = texts if len(iterators) == 1 else f"[{texts}]"
    return f"{_WHY}: take it out, and write `{session}.run({texts})` behind that run"
