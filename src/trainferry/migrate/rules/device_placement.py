"""Take GPUs out of device scopes.

There is no GPU on an NPU host. The adapter takes the graph from the CPU whatever its device
scopes say, so a scope for a GPU becomes one for the CPU. Text that is put together, such as
`'/gpu:%d' % i`, is replaced whole, and so is text that reaches `tf.device` by a name, an
attribute or a function.

    -with tf.device('/gpu:0'):
    +with tf.device('/cpu:0'):

By hand: devices that are read from flags or made elsewhere, where GPUs are named nearby; soft
placement, which the adapter turns on, keeps the program running.

Not touched: scopes for the CPU, device functions such as `tf.train.replica_device_setter`, which
belong to parameter servers, unit tests, and devices made elsewhere in a copy of `tpu_estimator.py`,
which is left out as a whole.

Source: Ascend TF Adapter 1.x migration guide, device placement.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call
from trainferry.migrate.rules._configs import assigned_values
from trainferry.migrate.rules._estimators import is_tpu_copy
from trainferry.migrate.rules._gpu_text import (
    cpu_text,
    device_texts,
    is_compared,
    is_gpu,
    names_gpus,
)
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._npu import called

CONCERN = Concern.RUN
_SETTER = "tf.train.replica_device_setter"
# The device of something is where that was put before.
_HAS_DEVICE = re.compile(r"(^|[._])(v|vars?|variables?|ops?|tensors?|grads?|clones?)\.device$")
_TPU = ("tf.contrib.tpu.", "tf.tpu.", "tf.estimator.tpu.")
# Told where the deployment is configured.
_DEPLOYED = ("inputs_device", "variables_device", "optimizer_device", "clone_device")


@on_call("tf.device", "tf.Graph.device")
def device_placement(call: Call, file: File) -> Iterator[Finding]:
    device = _device(call)
    if device is None or is_in_test(file, call.node) or _is_of_servers(device, file):
        return
    texts = device_texts(file, device)
    if texts:
        for home, text in texts:
            if is_gpu(text) and not is_in_test(home, text):
                yield _moved(home, text, is_here=text is device)
    elif (
        not file.once(_is_left_out) and _may_be_gpu(device, file) and _is_first(call, device, file)
    ):
        message = (
            f"where `{file.text(device)}` names a GPU, soft placement puts the operators on the "
            "CPU; `'/cpu:0'` says so"
        )
        spot = Spot(file.source, device)
        yield Finding(spot, Outcome.BY_HAND, message, concern=Concern.TIDY)


def _device(call: Call) -> ast.expr | None:
    given = call.argument(0, "device_name_or_function")
    return call.argument(0, "device_name") if given is None else given


def _moved(home: File, text: ast.expr, *, is_here: bool) -> Finding:
    at = Spot(home.source, text)
    if not is_here and is_compared(home):
        message = "write `'/cpu:0'` here, and look where a device is compared with a GPU"
        return Finding(at, Outcome.BY_HAND, message, concern=Concern.TIDY)
    edit = Edit(*home.source.span(text), cpu_text(home, text))
    message = "an NPU host has no GPU; the adapter takes the graph from the CPU"
    return Finding(at, Outcome.CHANGED, message, (edit,))


def _is_of_servers(device: ast.expr, file: File) -> bool:
    values = (device, *assigned_values(file, device))
    return any(called(file, one) == _SETTER for one in values)


def _is_left_out(file: File) -> bool:
    """Whether `tpu_only` says of the whole file that it be left out."""
    return is_tpu_copy(file) and any(name.startswith(_TPU) for name in file.used)


def _is_first(call: Call, device: ast.expr, file: File) -> bool:
    """Whether no scope before this one asks for the same."""
    others = (
        one
        for one in file.calls_of(call.name)
        if (found := _device(one)) is not None and file.text(found) == file.text(device)
    )
    return next(others, call).node is call.node


def _may_be_gpu(device: ast.expr, file: File) -> bool:
    text = file.text(device)
    if isinstance(device, ast.Call) and file.text(device.func).rpartition(".")[2] in _DEPLOYED:
        return False
    if isinstance(device, ast.Attribute) and _HAS_DEVICE.search(text):
        return False
    if any(quote in text for quote in "\"'") or "cpu" in text.lower():
        return "gpu" in text.lower()
    return names_gpus(file) and text != "None"
