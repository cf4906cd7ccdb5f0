"""Finds the `NpuOptimizer` entries of session configurations, and what is set in each."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from trainferry.migrate.file import File
from trainferry.migrate.rules._npu import npu_name, scope_of


@dataclass(frozen=True)
class Written:
    """`….parameter_map["key"].field = value`."""

    key: str
    proto_field: str
    value: ast.expr
    at: ast.expr


@dataclass
class Entry:
    """A variable that holds a custom optimizer, in the function or class that uses it.

    `added` are the calls of `custom_optimizers.add()` that it was set to: none where it comes
    from elsewhere, so that more may be set there.
    """

    variable: str
    scope: ast.AST
    written: list[Written] = field(default_factory=list)
    added: list[ast.Call] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    @property
    def is_npu(self) -> bool:
        return "NpuOptimizer" in self.names if self.names else bool(self.written)


def entries(file: File) -> list[Entry]:
    """All entries of a file, in the order of the text; none where no code names one."""
    if b"custom_optimizers" not in file.source.data and b"parameter_map" not in file.source.data:
        return []
    found: dict[tuple[str, ast.AST], Entry] = {}
    for call in added_calls(file):
        for target in _targets(file, call):
            entry = _entry(file, target, found)
            entry.added.append(call)
            entry.names |= {*_strings([one.value for one in call.keywords if one.arg == "name"])}
    for statement in file.stores:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and statement.value is not None:
                _note(file, target, statement.value, found)
    return [entry for entry in found.values() if entry.is_npu]


def added_calls(file: File) -> Iterator[ast.Call]:
    """Calls of `….custom_optimizers.add()`."""
    for call in file.names.attribute_calls(file.source, "add"):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(owner, ast.Attribute) and owner.attr == "custom_optimizers":
            yield call


def config_of(call: ast.Call) -> ast.expr | None:
    """`config` of `config.graph_options.rewrite_options.custom_optimizers.add()`."""
    node: ast.expr = call.func
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
        if names[-1] == "graph_options":
            return node
    return None


def is_complete(file: File, entry: Entry) -> bool:
    """Whether all that is set for the entry is in sight: it is made here, and goes nowhere."""
    return (
        bool(entry.added)
        and not any(
            ast.unparse(argument) == entry.variable
            for node in ast.walk(entry.scope)
            if isinstance(node, ast.Call | ast.Return)
            for argument in _handed_on(node)
        )
        and not any(
            isinstance(above, ast.For | ast.While) for above in file.parents(entry.added[0])
        )
    )


def _handed_on(node: ast.Call | ast.Return) -> list[ast.expr]:
    if isinstance(node, ast.Return):
        return [] if node.value is None else [node.value]
    return [*node.args, *(one.value for one in node.keywords)]


def _note(
    file: File, target: ast.Attribute, value: ast.expr, found: dict[tuple[str, ast.AST], Entry]
) -> None:
    owner = target.value
    if target.attr == "name" and (names := _strings([value])):
        _entry(file, owner, found).names |= {*names}
    elif (
        isinstance(owner, ast.Subscript)
        and isinstance(owner.value, ast.Attribute)
        and owner.value.attr == "parameter_map"
        and (keys := _strings([owner.slice]))
    ):
        entry = _entry(file, owner.value.value, found)
        entry.written.append(Written(keys[0], target.attr, value, target))


def _entry(file: File, variable: ast.expr, found: dict[tuple[str, ast.AST], Entry]) -> Entry:
    text = ast.unparse(variable)
    scope = scope_of(file, variable)
    if text.startswith("self."):
        scope = file.class_around(variable) or scope
    return found.setdefault((text, scope), Entry(text, scope))


def _targets(file: File, call: ast.Call) -> list[ast.expr]:
    above = file.parent(call)
    if isinstance(above, ast.Assign):
        return above.targets
    return [above.target] if isinstance(above, ast.AnnAssign) else []


def _strings(nodes: list[ast.expr]) -> list[str]:
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [value for value in values if isinstance(value, str)]


def sets_precision(file: File) -> bool:
    """Whether a file chooses the precision, in any way that the adapter has."""
    if b"precision_mode" not in file.source.data:
        return False
    if any(
        written.key.startswith("precision_mode")
        for entry in entries(file)
        for written in entry.written
    ):
        return True
    return any(
        npu_name(call.name)
        and (call.keyword("precision_mode") or call.keyword("precision_mode_v2"))
        for call in file.calls
    )
