"""Give every NPU a process instead of a tower.

On GPUs one process often builds the network once per device and averages the gradients. On NPUs
every device has a process of its own: the network is built once, the optimizer adds up the
gradients of all processes, and each process reads its own part of the data. A loop over towers
that is left as it is puts all towers on one NPU; where the number of GPUs is counted, it is 0.

    -for i in range(num_gpus):
    -    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i):
    -        tower_grads.append(opt.compute_gradients(tower_loss()))
    -train_op = opt.apply_gradients(average_gradients(tower_grads))
    +opt = npu_distributed_optimizer_wrapper(opt)
    +train_op = opt.minimize(tower_loss())

By hand: always; the batch of a process is that of one tower, and the learning rate that of all.

Source: Ascend TF Adapter 1.x migration guide, distributed training.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file
from trainferry.migrate.rules._gpu_text import is_formatted
from trainferry.migrate.rules._host_sessions import is_in_test

CONCERN = Concern.DISTRIBUTED
_COUNT = re.compile(r"gpu|num_clones|num_towers", re.IGNORECASE)
_FLAG = re.compile(r"(num|n|number|max)_?(of_)?gpus?|gpus|gpus?_(num|count)")
_COUNTERS = (
    "tensorflow.python.client.device_lib.list_local_devices",
    "tf.config.experimental.list_physical_devices",
    "tf.config.experimental.list_logical_devices",
    "tf.config.list_physical_devices",
    "tf.contrib.eager.num_gpus",
)
_WRAP = "wrap the optimizer with `npu_distributed_optimizer_wrapper(optimizer)`"
_ONE = f"{_WRAP} and start one process per NPU, each with the batch of one tower"


@on_file
def tower_loop(file: File) -> Iterator[Finding]:
    told: set[ast.AST] = set()
    for call in file.calls_of("tf.device"):
        loop = _loop_around(call, file)
        if loop is None or loop in told or is_in_test(file, loop):
            continue
        told.add(loop)
        message = f"build the network once, without this loop{_average(file)}, {_ONE}"
        concern = None
        if any(file.calls_of(*_COUNTERS)):
            message += "; where no GPU is counted, the loop does nothing"
            concern = Concern.RUN
        yield Finding(Spot(file.source, loop), Outcome.BY_HAND, message, concern=concern)


def _loop_around(call: Call, file: File) -> ast.For | None:
    device = call.argument(0, "device_name_or_function")
    for above in file.parents(call.node):
        if isinstance(above, ast.For):
            counts = bool(_COUNT.search(file.text(above.iter)))
            if counts or (device is not None and _is_for_tower(device, above, file)):
                return above
        if isinstance(above, ast.FunctionDef):
            break
    return None


def _is_for_tower(device: ast.expr, loop: ast.For, file: File) -> bool:
    """`"/gpu:%d" % i`, or what a function such as `assign_to_gpu(i)` makes of the loop's number."""
    if is_formatted(device):
        return True
    targets = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    return bool(_COUNT.search(file.text(device))) and any(
        isinstance(one, ast.Name) and one.id in targets for one in ast.walk(device)
    )


def _average(file: File) -> str:
    names = [one.name for one in file.functions if "average_grad" in one.name]
    return f" and `{names[0]}`" if names else ""


@on_call("tf.keras.utils.multi_gpu_model", "keras.utils.multi_gpu_model")
def multi_gpu_model(call: Call, file: File) -> Iterator[Finding]:
    model = call.argument(0, "model")
    text = "the model" if model is None else f"`{file.text(model)}`"
    message = f"use {text} itself, {_ONE}: `multi_gpu_model` fails where there is no GPU"
    yield Finding(call, Outcome.BY_HAND, message, concern=Concern.RUN)


@on_call("tf.contrib.estimator.replicate_model_fn", "tf.contrib.estimator.TowerOptimizer")
def replicated(call: Call, file: File) -> Iterator[Finding]:
    inner = call.node.args[0] if call.node.args else None
    text = "what it is given" if inner is None else f"`{file.text(inner)}`"
    yield Finding(call, Outcome.BY_HAND, f"use {text} itself; for several NPUs {_ONE}")


@on_file
def clones(file: File) -> Iterator[Finding]:
    """`num_clones` of slim's `DeploymentConfig`, a class that projects bring with them."""
    if file.options.distributed == "none":
        return
    for node in file.names.attribute_calls(file.source, "DeploymentConfig"):
        given = Call(file.source, node, "DeploymentConfig").argument(0, "num_clones")
        is_one = isinstance(given, ast.Constant) and given.value == 1
        if given is not None and not is_one and not is_in_test(file, node):
            message = f"keep `num_clones` at 1; for several NPUs {_ONE}"
            yield Finding(Spot(file.source, given), Outcome.BY_HAND, message)


@on_call(
    "tf.flags.DEFINE_integer",
    "tf.app.flags.DEFINE_integer",
    "absl.flags.DEFINE_integer",
)
def number_of_gpus(call: Call, file: File) -> Iterator[Finding]:
    name = call.argument(0, "name")
    text = name.value if isinstance(name, ast.Constant) else None
    if file.options.distributed == "none" or not isinstance(text, str):
        return
    if _FLAG.fullmatch(text.lower()):
        message = f"one process has one NPU: keep `{text}` at 1; for several {_ONE}"
        yield Finding(call, Outcome.BY_HAND, message)
