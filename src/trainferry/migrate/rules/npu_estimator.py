"""Use the adapter's Estimator.

`NPUEstimator` gives every device the same initial weights, saves checkpoints with the NPU's
hook, and can run several steps per call (`iterations_per_loop`). It takes only an `NPURunConfig`
and needs the environment variable `JOB_ID`. Placement, protocol and strategies are left out:
an `NPUEstimator` has one device, and the optimizer adds up the gradients of all. `NPURunConfig`
saves no summaries unless `save_summary_steps` is given, and a checkpoint every 100 steps unless
an interval is given.

    -config = tf.estimator.RunConfig(model_dir, save_checkpoints_steps=1000)
    -estimator = tf.estimator.Estimator(model_fn, config=config)
    +config = NPURunConfig(model_dir=model_dir, save_checkpoints_steps=1000)
    +estimator = NPUEstimator(model_fn, config=config)

By hand: a configuration that comes from elsewhere, has `**options` or an argument that
`NPURunConfig` does not take. The Estimator is then sent to the NPU as it is.

Not touched: ready-made Estimators such as `DNNClassifier`, and run configurations of others.

Source: TF Adapter 1.15, npu_bridge/estimator/npu/npu_estimator.py and npu_config.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._estimators import estimator_calls
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._npu_estimators import (
    DROPPED,
    PLAIN,
    labels,
    run_configs,
    why_not,
)
from trainferry.migrate.surface import import_for

CONCERN = Concern.SPEED
OPT_IN = True


@on_file
def npu_estimator(file: File) -> Iterator[Finding]:
    configs: dict[ast.AST, Call] = {}
    for call in estimator_calls(file):
        if call.name != PLAIN or is_in_test(file, call.node):
            continue
        reason = why_not(call, file)
        if reason is not None:
            message = f"write `NPUEstimator(…, config=NPURunConfig(…))`: {reason}"
            yield Finding(call, Outcome.BY_HAND, message)
        elif found := run_configs(call, file):  # first the configuration, then its Estimator
            configs |= {one.node: one for one in found}
        else:
            yield _replaced(call)
    for config in configs.values():
        yield _run_config(config)


def _replaced(call: Call) -> Finding:
    edits = [call.replace_function("NPUEstimator")]
    imports = [_import("NPUEstimator")]
    if call.argument(2, "config") is None:
        edits.append(call.add_keyword("config=NPURunConfig()"))
        imports.append(_import("NPURunConfig"))
    # The fifth of NPUEstimator is another one.
    if len(call.node.args) == 5 and not call.gives_twice(4, "warm_start_from"):
        edits.append(call.name_argument(call.node.args[4], "warm_start_from"))
    message = "`NPUEstimator` needs the environment variable `JOB_ID`"
    return Finding(call, Outcome.CHANGED, message, tuple(edits), tuple(imports))


def _run_config(call: Call) -> Finding:
    dropped = [one for one in call.node.keywords if one.arg in DROPPED]
    if dropped:  # one after the other: two that stand side by side would meet
        message = f"`{dropped[0].arg}` is left out: an `NPUEstimator` has one device of its own"
        edit = call.remove_argument(dropped[0])
        return Finding(Spot(call.source, dropped[0]), Outcome.CHECK, message, (edit,))
    edits = (call.replace_function("NPURunConfig"), *(labels(call) or ()))
    outcome, message = _differences(call)
    return Finding(call, outcome, message, edits, (_import("NPURunConfig"),))


def _differences(call: Call) -> tuple[Outcome, str]:
    said = []
    if call.argument(2, "save_summary_steps") is None:
        said.append("no summaries without `save_summary_steps`")
    intervals = (
        call.argument(3, "save_checkpoints_steps"),
        call.argument(4, "save_checkpoints_secs"),
    )
    if all(one is None or getattr(one, "value", one) is None for one in intervals):
        said.append("a checkpoint every 100 steps without `save_checkpoints_steps`")
    if said:
        return Outcome.CHECK, f"`NPURunConfig` saves {' and '.join(said)}"
    return Outcome.CHANGED, "`NPURunConfig` has the same fields"


def _import(name: str) -> str:
    statement = import_for(name)
    assert statement is not None
    return statement
