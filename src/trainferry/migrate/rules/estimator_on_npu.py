"""Run Estimators on the NPU.

An Estimator opens its sessions itself, from the `session_config` of its run configuration.
`npu_run_config_init` puts the NPU's optimizer into that configuration and changes nothing else,
so that ready-made Estimators, hooks and `train_and_evaluate` stay as they are. With adapters
that patch all sessions it does no harm, and it is what imports the adapter. The adapter's own
`NPUEstimator` does more (it broadcasts initial weights, saves checkpoints and loops on the
device) but takes only an `NPURunConfig`: ask for it with `--also npu_estimator`.

    -classifier = tf.estimator.Estimator(model_fn, FLAGS.model_dir, config, params)
    +classifier = tf.estimator.Estimator(model_fn, FLAGS.model_dir, npu_run_config_init(run_config=config), params)

By hand: calls with `*args` or `**options`, where `config` may hide, classes made from an
Estimator that do not call `super().__init__`, which are configured where they are used, and
Estimators whose sessions do without GPUs (`device_count={"GPU": 0}`), which may be meant for the
host.

Not touched: `NPUEstimator`, configurations that are the adapter's already, Estimators of unit
tests (those stay on the CPU) and classes of other libraries called `Estimator`.

Source: Ascend TF Adapter 1.x migration guide, Estimator; npu_bridge/npu_init.py,
`npu_run_config_init`.
"""  # noqa: E501

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file
from trainferry.migrate.rules._estimators import (
    ESTIMATORS,
    LEARN,
    STAYS_ON_HOST,
    WRAPPER,
    WRAPPER_IMPORT,
    bare_subclasses,
    estimator_calls,
    is_npu_run_config,
    may_hide_config,
    stays_on_host,
    wrap_run_config,
)
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._npu_estimators import becomes_npu_estimator

CONCERN = Concern.RUN
_MESSAGE = "the sessions of this Estimator run on the NPU"


@on_file
def estimator_on_npu(file: File) -> Iterator[Finding]:
    for call in estimator_calls(file):
        if not is_in_test(file, call.node) and not becomes_npu_estimator(call, file):
            yield from _configured(call, file)


def _configured(call: Call, file: File) -> Iterator[Finding]:
    config = call.argument(ESTIMATORS[call.name], "config")
    if config is None:
        yield _with_new_config(call, file)
    elif is_npu_run_config(file, config):
        return
    elif stays_on_host(file, config):
        yield Finding(call, Outcome.BY_HAND, STAYS_ON_HOST)
    else:
        edits = wrap_run_config(file, config)
        yield Finding(call, Outcome.CHANGED, _MESSAGE, edits, (WRAPPER_IMPORT,))


def _with_new_config(call: Call, file: File) -> Finding:
    inner = ""
    if call.name.startswith(LEARN):
        name = file.text(call.node.func).rpartition(".")[0]
        inner = f"run_config={name or LEARN.rstrip('.')}.RunConfig()"
        if not name:
            message = f"give it `config={WRAPPER}({inner})`"
            return Finding(call, Outcome.BY_HAND, message)
    if may_hide_config(call):
        message = f"give the Estimator `config={WRAPPER}(run_config=…)`; `config` may hide here"
        return Finding(call, Outcome.BY_HAND, message)
    edit = call.add_keyword(f"config={WRAPPER}({inner})")
    return Finding(call, Outcome.CHANGED, _MESSAGE, (edit,), (WRAPPER_IMPORT,))


@on_call("functools.partial")
def from_partial(call: Call, file: File) -> Iterator[Finding]:
    made = call.node.args[0] if call.node.args else None
    if isinstance(made, ast.Name | ast.Attribute) and file.full_name(made) in ESTIMATORS:
        message = f"give the Estimator `config={WRAPPER}(run_config=…)` here, or where it is called"
        yield Finding(Spot(file.source, made), Outcome.BY_HAND, message)


@on_file
def made_by_subclass(file: File) -> Iterator[Finding]:
    for base in bare_subclasses(file):
        if not is_in_test(file, base):
            message = (
                f"give what is made of this class `config={WRAPPER}(run_config=…)` where it is "
                "called, or its sessions stay on the host"
            )
            yield Finding(Spot(file.source, base), Outcome.BY_HAND, message)
