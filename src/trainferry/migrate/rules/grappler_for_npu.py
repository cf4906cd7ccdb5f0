"""Leave on the graph optimizations that the NPU builds on.

The adapter comes in as a custom optimizer of TensorFlow's graph optimizer and wants its other
steps, such as pruning and folding of constants, left on. Programs that turn such a step off turn
it on again, and the optimizer as a whole is never off. Remapping is off, because it conflicts
with the fusion of the NPU; `npu_config_proto` sees to it.

    -config.graph_options.rewrite_options.constant_folding = RewriterConfig.OFF
    +config.graph_options.rewrite_options.constant_folding = RewriterConfig.ON

Options given as a dictionary keep all that does not matter here.

    -tf.config.optimizer.set_experimental_options(options)
    +tf.config.optimizer.set_experimental_options(dict(options, **experimental_options))

By hand: values that cannot be seen.

Not touched: `remapping` and `memory_optimization` that are off, `GraphOptions` and
`OptimizerOptions` of a configuration, which the session's `npu_config_proto` sets right.

Source: TF Adapter 1.15, npu_bridge/npu_init.py, `experimental_options`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call, wrap
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file
from trainferry.migrate.rules._configs import assigned_values
from trainferry.migrate.rules._gpu import option_stores

CONCERN = Concern.RUN
LINT = True

_ON = frozenset(
    (
        "arithmetic_optimization",
        "constant_folding",
        "dependency_optimization",
        "function_optimization",
        "layout_optimizer",
        "loop_optimization",
        "shape_optimization",
    )
)
_FALSE = frozenset(("disable_meta_optimizer", "disable_model_pruning"))
_OPTIONS_IMPORT = "from npu_bridge.npu_init import experimental_options"
_REWRITER = "tensorflow.core.protobuf.rewriter_config_pb2.RewriterConfig"


@on_file
def assigned(file: File) -> Iterator[Finding]:
    for store, option in option_stores(file, "rewrite_options"):
        yield from _option(file, Spot(file.source, store), option, store.value)
    for other in file.stores:  # what a name for `rewrite_options` is given
        target = other.targets[0] if isinstance(other, ast.Assign) else other.target
        if (
            isinstance(target, ast.Attribute)
            and target.attr in _ON | _FALSE | {"remapping"}
            and other.value is not None
            and any(_is_rewriter(file, one) for one in assigned_values(file, target.value))
        ):
            yield from _option(file, Spot(file.source, other), target.attr, other.value)


@on_call(_REWRITER)
def constructed(call: Call, file: File) -> Iterator[Finding]:
    for keyword in call.node.keywords:
        if keyword.arg is not None:
            spot = Spot(file.source, keyword.value)
            yield from _option(file, spot, keyword.arg, keyword.value)


@on_call("tf.config.optimizer.set_experimental_options")
def experimental(call: Call, file: File) -> Iterator[Finding]:
    options = call.argument(0, "options")
    if isinstance(options, ast.Dict) and all(isinstance(one, ast.Constant) for one in options.keys):
        for key, value in zip(options.keys, options.values, strict=True):
            assert isinstance(key, ast.Constant)
            yield from _setting(file, str(key.value), value)
    elif options is None or "experimental_options" in file.text(options):
        return
    else:
        message = "your options stay, but for those that the NPU needs"
        edits = wrap(file.source, options, "dict(", ", **experimental_options)")
        yield Finding(call, Outcome.CHANGED, message, edits, imports=(_OPTIONS_IMPORT,))


def _is_rewriter(file: File, value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return file.full_name(value.func) == _REWRITER
    return isinstance(value, ast.Attribute) and value.attr == "rewrite_options"


def _option(file: File, spot: Spot, option: str, value: ast.expr) -> Iterator[Finding]:
    """An option of `rewrite_options`: one of `RewriterConfig`'s values, or a truth value."""
    if option in _FALSE:
        yield from _setting(file, option, value)
    elif option in _ON and _last(value) == "OFF":
        end = file.source.span(value)[1]
        message = f"the NPU needs `{option}`"
        yield Finding(spot, Outcome.CHANGED, message, (Edit(end - 3, end, "ON"),))
    elif option in _ON and not (isinstance(value, ast.Attribute) and _last(value) != "OFF"):
        if not (isinstance(value, ast.Constant) and value.value in (0, 1, 3)):
            message = f"see to it that `{option}` is not `RewriterConfig.OFF`; the NPU needs it"
            yield Finding(spot, Outcome.BY_HAND, message)
    elif option == "remapping" and _last(value) in ("ON", "AGGRESSIVE"):
        end = file.source.span(value)[1]
        edit = Edit(end - len(_last(value)), end, "OFF")
        yield Finding(
            spot, Outcome.CHANGED, "remapping conflicts with the fusion of the NPU", (edit,)
        )


def _setting(file: File, option: str, value: ast.expr) -> Iterator[Finding]:
    """An option that is true or false."""
    if option not in _ON | _FALSE | {"remapping"}:
        return
    wanted = option in _ON
    if isinstance(value, ast.Constant) and bool(value.value) == wanted:
        return
    spot = Spot(file.source, value)
    message = f"the NPU needs `{option}` to be {wanted}"
    if isinstance(value, ast.Constant):
        edit = Edit(*file.source.span(value), str(wanted))
        yield Finding(spot, Outcome.CHANGED, message, (edit,))
    else:
        yield Finding(spot, Outcome.BY_HAND, message)


def _last(value: ast.expr) -> str:
    return value.attr if isinstance(value, ast.Attribute) else ""
