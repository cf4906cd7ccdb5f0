"""Which Estimators and run configurations can become the adapter's own."""

from __future__ import annotations

import ast

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rules._configs import assigned_values
from trainferry.migrate.rules._estimators import RUN_CONFIG_FIELDS, is_kept_on_host
from trainferry.migrate.rules._npu import called, npu_name

RULE = "npu_estimator"
PLAIN = "tf.estimator.Estimator"
CONFIG = "tf.estimator.RunConfig"
# Fields that NPURunConfig does not have, or must not be given, and that the NPU does not need.
DROPPED = (
    "device_fn",
    "protocol",
    "train_distribute",
    "eval_distribute",
    "experimental_distribute",
)
_KEPT = RUN_CONFIG_FIELDS[:9]


def is_chosen(file: File) -> bool:
    return RULE in file.options.also | file.options.only


def becomes_npu_estimator(call: Call, file: File) -> bool:
    """Whether the rule for NPUEstimator takes this call, and no other rule may."""
    return is_chosen(file) and call.name == PLAIN and why_not(call, file) is None


def why_not(call: Call, file: File) -> str | None:
    """What keeps an Estimator from becoming an NPUEstimator, in words."""
    function = call.node.func
    if not isinstance(function, ast.Name | ast.Attribute) or _is_base(function):
        return "derive the class from `NPUEstimator` and give its base an `NPURunConfig`"
    if call.has_star_arguments or labels(call) is None:
        return "arguments hide behind stars or brackets"
    config = call.argument(2, "config")
    if config is not None and is_kept_on_host(file, config):
        return 'only if it is meant for the NPU: `device_count={"GPU": 0}` kept it off the GPU'
    configs = run_configs(call, file)
    if configs is None:
        return "its configuration is made elsewhere, and must be an `NPURunConfig`"
    refused = [field for one in configs if (field := _refused_field(one)) is not None]
    return f"`NPURunConfig` does not take `{refused[0]}`" if refused else None


def _is_base(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "__init__"


def run_configs(call: Call, file: File) -> list[Call] | None:
    """The calls of RunConfig that make an Estimator's configuration; None when others may."""
    config = call.argument(2, "config")
    return [] if config is None else _made_by(file, config, frozenset())


def _made_by(file: File, config: ast.expr, seen: frozenset[str]) -> list[Call] | None:
    while (
        isinstance(config, ast.Call)
        and isinstance(config.func, ast.Attribute)
        and config.func.attr == "replace"
    ):
        config = config.func.value
    name = called(file, config)
    if npu_name(name) == "NPURunConfig":
        return []
    if name == CONFIG and isinstance(config, ast.Call):
        return [Call(file.source, config, name)]
    text = file.text(config)
    values = [] if text in seen else assigned_values(file, config)
    found = [_made_by(file, one, seen | {text}) for one in values]
    if not values or None in found:
        return None
    return [one for part in found if part is not None for one in part]


def _refused_field(call: Call) -> str | None:
    """The first argument of a RunConfig that NPURunConfig cannot take and that may matter."""
    if call.has_star_arguments or len(call.node.args) > len(_KEPT):
        return "*"
    if labels(call) is None:
        return "(…)"
    names = [one.arg for one in call.node.keywords]
    return next((one for one in names if one and one not in (*_KEPT, *DROPPED)), None)


def labels(call: Call) -> list[Edit] | None:
    """Edits that give arguments by place their names; None where brackets are in the way."""
    if any(call.gives_twice(place, name) for place, name in enumerate(RUN_CONFIG_FIELDS)):
        return None
    source = call.source
    end = source.span(call.node.func)[1]
    before = b"("
    edits = []
    for argument, name in zip(call.node.args, RUN_CONFIG_FIELDS, strict=False):
        start = source.span(argument)[0]
        if source.data[end:start].strip() != before:
            return None
        edits.append(Edit(start, start, f"{name}="))
        end, before = source.span(argument)[1], b","
    return edits
