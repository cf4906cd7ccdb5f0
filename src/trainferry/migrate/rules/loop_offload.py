"""Run several steps on the device per call.

Between two steps the device waits for the host. With `iterations_per_loop` it runs that many steps
before it answers, which is fast for small networks. The input must be a `tf.data` pipeline with
an initializable iterator that does not end inside a loop, the total of steps and the steps
between checkpoints must be multiples of the number, and losses, summaries and logs come only
once per loop. It does not go together with operators on the host (`mix_compile_mode`).

    -config = NPURunConfig(save_checkpoints_steps=1000)
    +config = NPURunConfig(save_checkpoints_steps=1000, iterations_per_loop=10)

By hand: loops of `sess.run`, other Estimators and Keras, with the text to write; `NPURunConfig`
with a number of steps between checkpoints that is not known to be a multiple.
Not touched: configurations that set `iterations_per_loop`, and loops that feed a dictionary.

Source: Ascend TF Adapter 1.x migration guide, iteration offload.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.parameters import NOT_LITERAL
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._npu import npu_name, value_of
from trainferry.migrate.rules._npu_optimizer import entries

CONCERN = Concern.SPEED
OPT_IN = True

STEPS = 10
_TRAIN = ("train", "train_and_evaluate")
_PARAMETERS = (
    f'`custom_op.parameter_map["iterations_per_loop"].i = {STEPS}` and '
    '`custom_op.parameter_map["enable_data_pre_proc"].b = True`'
)
_IN_LOOP = (
    f"for {STEPS} steps per call set {_PARAMETERS}, write "
    "`{op} = util.set_iteration_per_loop({session}, {op}, 10)` before the loop, and divide the "
    "number of its turns by 10"
)
_ESTIMATOR = (
    f"for {STEPS} steps per call use an `NPUEstimator` with "
    f"`NPURunConfig(iterations_per_loop={STEPS})`; or set {_PARAMETERS} in its `session_config`, "
    f"give the training the hook `SetIterationsVarHook({STEPS})`, and let `model_fn` return "
    '`tf.group(train_op, name="IterationOp")`'
)
_KERAS = (
    f"for {STEPS} steps per call train `keras_to_npu.model_to_npu_estimator(keras_model={{model}}, "
    f"config=NPURunConfig(iterations_per_loop={STEPS}))`, with the input in an `input_fn`; "
    "callbacks are lost"
)


@on_call("npu_bridge.*")
def run_config(call: Call, file: File) -> Iterator[Finding]:
    if npu_name(call.name) != "NPURunConfig" or call.keyword("iterations_per_loop"):
        return
    hindrance = _hindrance(call, file)
    if hindrance:
        message = f"set `iterations_per_loop={STEPS}` {hindrance}"
        yield Finding(call, Outcome.BY_HAND, message)
        return
    edit = call.add_keyword(f"iterations_per_loop={STEPS}")
    message = (
        f"{STEPS} steps per call: the total must be a multiple of {STEPS}, and losses, logs and "
        "summaries come once per call"
    )
    yield Finding(call, Outcome.CHECK, message, (edit,))


def _hindrance(call: Call, file: File) -> str:
    """Why a configuration cannot simply get the argument; empty when it can."""
    values = {one.arg: value_of(file, one.value) for one in call.node.keywords}
    saved = values.get("save_checkpoints_steps")
    divides = saved is None or (isinstance(saved, int) and saved % STEPS == 0)
    mixes = values.get("mix_compile_mode", False) is not False or _mixes(file)
    trains = any(file.names.attribute_calls(file.source, name) for name in _TRAIN)
    reasons = {
        "where all arguments are known": call.has_star_arguments or bool(call.node.args),
        "once nothing needs `mix_compile_mode` any more": mixes,
        "together with `enable_data_pre_proc=True`": not values.get("enable_data_pre_proc", True),
        f"when `save_checkpoints_steps` is a multiple of {STEPS}": not divides,
        "if it is for training": not trains,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _mixes(file: File) -> bool:
    return any(
        written.key == "mix_compile_mode" and value_of(file, written.value) in (True, NOT_LITERAL)
        for entry in entries(file)
        for written in entry.written
    )


@on_call("tf.estimator.Estimator")
def estimator(call: Call, file: File) -> Iterator[Finding]:
    is_replaced = "npu_estimator" in file.options.also | file.options.only
    if not is_replaced and not is_in_test(file, call.node):
        yield Finding(call, Outcome.BY_HAND, _ESTIMATOR)


@on_call("tf.keras.Model.fit", "tf.keras.Model.fit_generator")
def keras(call: Call, file: File) -> Iterator[Finding]:
    if isinstance(call.node.func, ast.Attribute):
        model = file.text(call.node.func.value)
        yield Finding(call, Outcome.BY_HAND, _KERAS.format(model=model))


@on_file
def session_loop(file: File) -> Iterator[Finding]:
    """Loops of `sess.run(train_op)` that feed nothing."""
    updates = _updates(file)
    if not updates or any(npu_name(call.name) == "set_iteration_per_loop" for call in file.calls):
        return
    for call in file.unresolved_calls("run"):
        fetched = [node for one in call.args[:1] for node in ast.walk(one)]
        names = [ast.unparse(one) for one in fetched if isinstance(one, ast.Name | ast.Attribute)]
        op = next((name for name in names if name in updates), None)
        feeds = len(call.args) > 1 or call.keywords
        if op is None or feeds or not isinstance(call.func, ast.Attribute):
            continue
        if any(isinstance(above, ast.For | ast.While) for above in file.parents(call)):
            message = _IN_LOOP.format(op=op, session=file.text(call.func.value))
            yield Finding(Spot(file.source, call), Outcome.BY_HAND, message)


def _updates(file: File) -> frozenset[str]:
    """What holds an update of weights."""
    return frozenset(
        ast.unparse(target)
        for method in ("minimize", "apply_gradients")
        for call in file.names.attribute_calls(file.source, method)
        if isinstance(above := file.parent(call), ast.Assign)
        for target in above.targets
    )
