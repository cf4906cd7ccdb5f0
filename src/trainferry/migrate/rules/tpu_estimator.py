"""Turn the TPU off in a TPUEstimator.

A `TPUEstimator` with `use_tpu=False` is an ordinary Estimator. Its run configuration is sent
through `npu_run_config_init`, so that its sessions run on the NPU. Where `use_tpu` is an
expression, mostly a flag, that is left as it is: your scripts may pass it, and a flag that is
ignored would mislead; it has to be false when the program runs.

    -estimator = tf.contrib.tpu.TPUEstimator(model_fn=model_fn, config=run_config)
    +estimator = tf.contrib.tpu.TPUEstimator(model_fn=model_fn, config=npu_run_config_init(run_config=run_config), use_tpu=False, eval_on_tpu=False, export_to_tpu=False)

By hand: `use_tpu=FLAGS.use_tpu`, which is only worth knowing where the flag is False by default,
calls with `*args` or `**options`, and Estimators whose sessions do without GPUs
(`device_count={"GPU": 0}`), which may be meant for the host.

Source: Ascend TF Adapter 1.x migration guide, Estimator; npu_bridge/npu_init.py,
`npu_run_config_init`.
"""  # noqa: E501

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call
from trainferry.migrate.rules._estimators import (
    STAYS_ON_HOST,
    TPU_ESTIMATORS,
    WRAPPER,
    WRAPPER_IMPORT,
    is_npu_run_config,
    stays_on_host,
    wrap_run_config,
)
from trainferry.migrate.rules._host_sessions import is_in_test

CONCERN = Concern.RUN
_SWITCHES = (("use_tpu", 4), ("eval_on_tpu", 9), ("export_to_tpu", 10))
_FLAGS = tuple(
    f"{module}.{name}"
    for module in ("tf.flags", "tf.app.flags", "absl.flags")
    for name in ("DEFINE_bool", "DEFINE_boolean")
)
_WITHOUT_TPU = "an ordinary Estimator, without a TPU"


@on_call(*TPU_ESTIMATORS)
def tpu_estimator(call: Call, file: File) -> Iterator[Finding]:
    if is_in_test(file, call.node):
        return
    if call.has_star_arguments:
        switches = ", ".join(f"{name}=False" for name, _ in _SWITCHES)
        message = f"give it `config={WRAPPER}(run_config=…), {switches}`; they may hide here"
        yield Finding(call, Outcome.BY_HAND, message)
        return
    config = call.argument(2, "config")
    edits = [*_switched_off(call)]
    imports: tuple[str, ...] = ()
    stays = config is not None and stays_on_host(file, config)
    if config is not None and not stays and not is_npu_run_config(file, config):
        edits += wrap_run_config(file, config)
        imports = (WRAPPER_IMPORT,)
    if edits:
        message = _WITHOUT_TPU if stays else f"{_WITHOUT_TPU}, whose sessions run on the NPU"
        yield Finding(call, Outcome.CHANGED, message, tuple(edits), imports)
    if stays:
        yield Finding(call, Outcome.BY_HAND, STAYS_ON_HOST)
    use_tpu = call.argument(4, "use_tpu")
    if use_tpu is not None and not isinstance(use_tpu, ast.Constant):
        message = f"`{file.text(use_tpu)}` must be false on an NPU host: start the program so"
        concern = Concern.TIDY if _is_false_unless_asked(file, use_tpu) else None
        yield Finding(Spot(file.source, use_tpu), Outcome.BY_HAND, message, concern=concern)


def _is_false_unless_asked(file: File, value: ast.expr) -> bool:
    """Whether a flag, or a parameter of the function around it, is False by default."""
    if isinstance(value, ast.Attribute):
        defaults = [
            call.argument(1, "default")
            for other in file.project.files
            for call in other.calls_of(*_FLAGS)
            if _is_text(call.argument(0, "name"), value.attr)
        ]
    else:
        function = file.function(value)
        defaults = [] if function is None else [_default(function.args, file.text(value))]
    return bool(defaults) and all(
        isinstance(one, ast.Constant) and one.value is False for one in defaults
    )


def _is_text(node: ast.expr | None, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def _default(arguments: ast.arguments, name: str) -> ast.expr | None:
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(plain), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return next((default for one, default in pairs if one.arg == name), None)


def _switched_off(call: Call) -> Iterator[Edit]:
    missing = []
    for name, place in _SWITCHES:
        value = call.argument(place, name)
        if value is None:
            missing.append(f"{name}=False")
        elif isinstance(value, ast.Constant) and value.value is not False:
            yield call.replace_argument(value, "False")
    if missing:
        yield call.add_keyword(", ".join(missing))
