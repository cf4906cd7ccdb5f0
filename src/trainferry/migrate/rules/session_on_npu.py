"""Open sessions on the NPU.

A session runs on the NPU when its configuration has the optimizer `NpuOptimizer`, which
`npu_config_proto` puts in; it also turns off what disturbs the NPU: XLA, remapping and memory
optimization. A configuration that another file builds, or that is changed later, is fine: it
stays the same object. With `--adapter patched` see `adapter_import`.

    -with tf.Session(graph=graph, config=config) as sess:
    +with tf.Session(graph=graph, config=npu_config_proto(config_proto=config)) as sess:

By hand: `*args` or `**options` that may hide the configuration, subclasses of sessions, sessions
that are opened elsewhere (`partial(tf.Session)`), a supervisor whose class is not known, and
configurations without GPUs (`device_count={"GPU": 0}`), which may be meant for the host.

Not touched: sessions of unit tests, sessions that only decode or write samples, and
configurations that are for the NPU already.

Source: TF Adapter 1.15, npu_bridge/npu_init.py, `npu_config_proto`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call, wrap
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file, on_project
from trainferry.migrate.rules._configs import WRAPPER_IMPORT, is_npu_config
from trainferry.migrate.rules._host_sessions import (
    is_in_test,
    is_kept_off_accelerators,
    only_makes_data,
)
from trainferry.migrate.rules._sessions import (
    SESSIONS,
    session_calls,
    session_name,
    session_values,
    unclear_session_calls,
)

CONCERN = Concern.RUN

_ON_THE_NPU = "the session runs on the NPU"
_NEEDS_BRACKETS = ast.NamedExpr | ast.Yield | ast.YieldFrom


@on_file
def open_on_npu(file: File) -> Iterator[Finding]:
    calls = [one for one in session_calls(file) if not is_in_test(file, one[0].node)]
    if calls and only_makes_data(file):
        first = min((call for call, _, _ in calls), key=lambda call: file.source.span(call.node))
        message = (
            "this file only reads and writes samples, so its sessions stay on the host; "
            "do not import the adapter here, which moves them to the NPU and makes them slower"
        )
        yield Finding(first, Outcome.BY_HAND, message, concern=Concern.SPEED)
    elif file.options.adapter == "explicit":
        for call, position, keyword in calls:
            yield from _with_config(file, call, position, keyword)
        yield from _monitored(file)
        yield from _told(file)


@on_project
def leave_tests_on_host(project: ProjectFiles) -> Iterator[Finding]:
    places = [
        call
        for file in project.files
        for call, _, _ in session_calls(file)
        if is_in_test(file, call.node)
    ]
    if places:
        files = len({call.source.path for call in places})
        message = (
            f"the sessions of unit tests ({files} {'file' if files == 1 else 'files'}) stay on "
            "the host; a test that imports a module with the adapter moves to the NPU with it"
        )
        yield Finding(places[0], Outcome.BY_HAND, message, concern=Concern.TIDY)


def _with_config(file: File, call: Call, position: int, keyword: str) -> Iterator[Finding]:
    config = call.argument(position, keyword)
    if config is None and call.has_star_arguments:
        message = f"see to it that `{keyword}=npu_config_proto(config_proto=...)` is passed"
        yield Finding(call, Outcome.BY_HAND, message)
    elif config is None:
        edit = call.add_keyword(f"{keyword}=npu_config_proto()")
        yield _changed(call, edit)
    elif isinstance(config, ast.Constant) and config.value is None:
        yield _changed(call, call.replace_argument(config, "npu_config_proto()"))
    elif is_npu_config(file, config):
        return
    elif is_kept_off_accelerators(file, config):
        message = (
            'the session stays on the host, because `device_count={"GPU": 0}` kept it off the '
            f"GPU; for the NPU write `{keyword}=npu_config_proto(config_proto=...)`"
        )
        yield Finding(call, Outcome.BY_HAND, message)
    else:
        brackets = ("(", ")") if isinstance(config, _NEEDS_BRACKETS) else ("", "")
        before = f"npu_config_proto(config_proto={brackets[0]}"
        yield _changed(call, *wrap(file.source, config, before, f"{brackets[1]})"))


def _monitored(file: File) -> Iterator[Finding]:
    """`MonitoredSession` has its configuration from its creator, the chief's if there is none."""
    for call in file.calls:
        if session_name(call.name) != "tf.train.MonitoredSession" or is_in_test(file, call.node):
            continue
        creator = call.argument(0, "session_creator")
        function = file.text(call.node.func)
        text = function.removesuffix("MonitoredSession") + "ChiefSessionCreator"
        text += "(config=npu_config_proto())"
        is_none = isinstance(creator, ast.Constant) and creator.value is None
        if creator is not None and not is_none:
            continue  # it is a creator's call that has the configuration
        if call.has_star_arguments or not function.endswith(".MonitoredSession"):
            message = f"give it `session_creator={text}`"
            yield Finding(call, Outcome.BY_HAND, message)
        elif creator is not None:
            yield _changed(call, call.replace_argument(creator, text))
        else:
            yield _changed(call, call.add_keyword(f"session_creator={text}"))


def _told(file: File) -> Iterator[Finding]:
    for node, method in unclear_session_calls(file):
        if any(one.arg == "config" and is_npu_config(file, one.value) for one in node.keywords):
            continue
        message = (
            f"if this is TensorFlow's `{method}`, pass `config=npu_config_proto(config_proto=...)`"
        )
        yield Finding(Spot(file.source, node), Outcome.BY_HAND, message)
    for expression, name in session_values(file):
        above = file.parent(expression)
        if is_in_test(file, expression) or _has_npu_config(file, above):
            continue
        keyword = SESSIONS[name][1]
        text = f"`{keyword}=npu_config_proto(config_proto=...)`"
        if isinstance(above, ast.ClassDef):
            message = f"pass {text} to `__init__` of the base class"
        else:
            message = f"`{name}` is called elsewhere: pass {text} there"
        yield Finding(Spot(file.source, expression), Outcome.BY_HAND, message)


def _has_npu_config(file: File, above: ast.AST | None) -> bool:
    """Whether `partial(tf.Session, config=npu_config_proto())` has it already."""
    return isinstance(above, ast.Call) and any(
        one.arg in ("config", "session_config") and is_npu_config(file, one.value)
        for one in above.keywords
    )


def _changed(call: Call, *edits: Edit) -> Finding:
    return Finding(call, Outcome.CHANGED, _ON_THE_NPU, edits, imports=(WRAPPER_IMPORT,))
