"""Import the adapter where sessions are opened.

Newer adapters put the NPU into every session of a process when `npu_bridge.npu_init` is imported,
so with `--adapter patched` configurations stay as they are and each file that opens sessions
imports it. The import brings one name; the star import would bring 71, among them `os` and
`session`.

    +from npu_bridge import npu_init

Also: a configuration of `None` that is passed by place is passed by name, because the patched
session fails on it.

    -sess = tf.Session("", None, None)
    +sess = tf.Session("", None, config=None)

By hand: a file that uses the name `npu_init` for something else.

Not touched: files that only test, or only read and write samples; with `--adapter explicit` all.

Source: TF Adapter 1.15, npu_bridge/npu_init.py and npu_bridge/estimator/npu/npu_config.py,
`decorator_tf_session`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.imports import add_imports, taken_name
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file
from trainferry.migrate.rules._host_sessions import is_in_test, only_makes_data
from trainferry.migrate.rules._sessions import (
    session_calls,
    session_name,
    session_values,
    unclear_session_calls,
)

CONCERN = Concern.RUN

_IMPORT = "from npu_bridge import npu_init"


@on_file
def import_adapter(file: File) -> Iterator[Finding]:
    if file.options.adapter != "patched" or _imports_adapter(file):
        return
    places = [node for node in _places(file) if not is_in_test(file, node)]
    if not places or only_makes_data(file):
        return
    first = Spot(file.source, min(places, key=file.source.span))
    edit = add_imports(file, (_IMPORT,), places)
    if edit is None or taken_name(file, (_IMPORT,), first.node):
        message = "import `npu_bridge.npu_init` before the first session; it patches them all"
        yield Finding(first, Outcome.BY_HAND, message)
    else:
        message = f"`{_IMPORT}` puts the NPU into every session that is opened after it"
        yield Finding(first, Outcome.CHANGED, message, (edit,))


@on_call("tf.Session", "tf.InteractiveSession")
def name_none(call: Call, file: File) -> Iterator[Finding]:
    placed = call.node.args[2:3]
    if file.options.adapter != "patched" or is_in_test(file, call.node):
        return
    if call.gives_twice(2, "config"):
        return
    if placed and file.text(placed[0]) == "None" and not call.has_star_arguments:
        edit = Edit(*file.source.span(placed[0]), "config=None")
        message = "the adapter fails on `None` in the place of the configuration, not by name"
        yield Finding(call, Outcome.CHANGED, message, (edit,))


def _places(file: File) -> Iterator[ast.expr]:
    for call, _, _ in session_calls(file):
        yield call.node
    for call in file.calls:
        if session_name(call.name) == "tf.train.MonitoredSession":
            yield call.node
    for node, _ in unclear_session_calls(file):
        yield node
    for value, _ in session_values(file):
        yield value


def _imports_adapter(file: File) -> bool:
    return any(
        "npu_bridge.npu_init" in _modules(one)
        for one in file.imports
        if isinstance(file.parent(one), ast.Module | ast.Try)
    )


def _modules(statement: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    module = statement.module or ""
    return [module, *(f"{module}.{alias.name}" for alias in statement.names)]
