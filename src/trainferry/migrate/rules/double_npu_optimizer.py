"""Keep one NpuOptimizer per configuration.

A second entry of the NpuOptimizer does not replace the first: the adapter reads all entries one
after the other, and later values win, so it is luck which settings are in force.
`npu_config_proto` adds an entry of its own where there is none; an entry that is added behind it
is the second.

    -config = npu_config_proto(config_proto=config)
     custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
     custom_op.name = "NpuOptimizer"
    +config = npu_config_proto(config_proto=config)

By hand: always. Not told: entries in different branches, and configurations made anew between.

Source: TF Adapter 1.15, npu_bridge/npu_init.py, `npu_config_proto`; npu_attrs.cc.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._npu import called, exclude_each_other, npu_name, scope_of
from trainferry.migrate.rules._npu_optimizer import config_of, entries

CONCERN = Concern.RESULT
LINT = True

_WRAPPERS = frozenset(("npu_config_proto",))


@on_file
def double_npu_optimizer(file: File) -> Iterator[Finding]:
    seen: list[tuple[str, ast.AST, ast.AST]] = []
    for call in sorted(_added(file), key=lambda one: one.lineno):
        config = config_of(call)
        if config is None:
            continue
        text, scope = ast.unparse(config), scope_of(file, call)
        before = [other for one, where, other in seen if (one, where) == (text, scope)]
        if any(_stay_together(file, text, other, call) for other in before):
            message = "the configuration has an NpuOptimizer already; set its `parameter_map`"
            yield Finding(Spot(file.source, call), Outcome.BY_HAND, message)
        elif wrapper := _wrapped_before(file, text, scope, call):
            message = (
                f"`{wrapper}` has added an NpuOptimizer before; "
                f"fill the configuration first and call `{wrapper}` behind"
            )
            yield Finding(Spot(file.source, call), Outcome.BY_HAND, message)
        seen.append((text, scope, call))


def _added(file: File) -> list[ast.Call]:
    return [call for entry in entries(file) for call in entry.added]


def _wrapped_before(file: File, config: str, scope: ast.AST, call: ast.Call) -> str | None:
    """The wrapper whose result the configuration is; None where it is another one again."""
    last: ast.Assign | None = None
    for one in _assignments(scope, config):
        if one.lineno < call.lineno and not exclude_each_other(file, one, call):
            last = one
    name = None if last is None else npu_name(called(file, last.value))
    return name if name in _WRAPPERS else None


def _stay_together(file: File, config: str, one: ast.AST, other: ast.Call) -> bool:
    if exclude_each_other(file, one, other):
        return False
    between = [
        assigned
        for assigned in _assignments(scope_of(file, other), config)
        if getattr(one, "lineno", 0) < assigned.lineno < other.lineno
    ]
    return all(npu_name(called(file, assigned.value)) in _WRAPPERS for assigned in between)


def _assignments(scope: ast.AST, text: str) -> Iterator[ast.Assign]:
    found = [
        node
        for node in ast.walk(scope)
        if isinstance(node, ast.Assign) and text in map(ast.unparse, node.targets)
    ]
    yield from sorted(found, key=lambda node: node.lineno)
