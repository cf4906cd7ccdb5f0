"""Find no GPUs where there are NPUs.

TensorFlow does not list NPUs: on such a machine `list_physical_devices("GPU")` is empty and
`is_gpu_available()` false. Programs that count GPUs to split a batch, or ask for the first one,
fail or train on nothing. Each process has one NPU, so there is one device to write; settings of
a single GPU go.

    -tf.config.experimental.set_memory_growth(gpus[0], True)

By hand: decisions and counts that depend on the GPUs found.

Not touched: loops over GPUs that set options (`for gpu in gpus: set_memory_growth(gpu, True)`),
which do nothing for an empty list, GPUs that are only logged, and unit tests.

Source: the adapter's support list of the TensorFlow 1.15 API.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_name
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.statements import remove_statement

CONCERN = Concern.RUN

_SETTERS = (
    "tf.config.experimental.set_memory_growth",
    "tf.config.experimental.set_virtual_device_configuration",
    "tf.config.experimental.set_visible_devices",
    "tf.config.set_visible_devices",
    "tf.config.set_logical_device_configuration",
)
_LISTS = (
    "tf.config.experimental.list_physical_devices",
    "tf.config.experimental.list_logical_devices",
    "tf.config.experimental.get_visible_devices",
    "tf.config.list_physical_devices",
    "tf.config.list_logical_devices",
    "tf.config.experimental_list_devices",
    "tensorflow.python.client.device_lib.list_local_devices",
)
_LOGS = frozenset(("print", "info", "debug", "warning", "warn", "log", "len", "str", "format"))


@on_call(*_SETTERS)
def single_gpu(call: Call, file: File) -> Iterator[Finding]:
    """A setting of `gpus[0]` fails on an empty list; one of every GPU in a loop does nothing."""
    device = call.argument(0, "devices" if "visible" in call.name else "device")
    has_index = device is not None and any(
        isinstance(one, ast.Subscript) and not isinstance(one.slice, ast.Slice)
        for one in ast.walk(device)
    )
    if not has_index or is_in_test(file, call.node):
        return
    statement = file.parent(call.node)
    edit = remove_statement(file, statement) if isinstance(statement, ast.Expr) else None
    name = call.name.rpartition(".")[2]
    if edit is None:
        message = f"remove `{name}`: the list of GPUs is empty, and asking for one of them fails"
        yield Finding(call, Outcome.BY_HAND, message)
    else:
        message = f"`{name}` is for GPUs; their list is empty, and asking for one of them fails"
        yield Finding(call, Outcome.CHANGED, message, (edit,))


@on_call(*_LISTS)
def listed(call: Call, file: File) -> Iterator[Finding]:
    kind = call.argument(0, "device_type")
    if is_in_test(file, call.node) or (
        isinstance(kind, ast.Constant) and kind.value not in ("GPU", None)
    ):
        return
    if any(_decides(file, use) for use in _uses(file, call.node)):
        message = (
            "there are no GPUs in this list on an NPU; each process has one NPU, so write "
            '`["/device:CPU:0"]` where names are wanted, and 1 where they are counted'
        )
        yield Finding(call, Outcome.BY_HAND, message)


@on_name("tf.test.is_gpu_available", "tf.test.gpu_device_name")
def probed(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    node = spot.node
    assert isinstance(node, ast.expr)
    call = file.parent(node)
    asked = call if isinstance(call, ast.Call) and call.func is node else node
    if is_in_test(file, node) or not any(_decides(file, use) for use in _uses(file, asked)):
        return
    if name.endswith("is_gpu_available"):
        message = "this is false on an NPU; write `True` where it chooses the fast way or counts 1"
    else:
        message = 'this is empty on an NPU; write `"/device:CPU:0"`'
    yield Finding(spot, Outcome.BY_HAND, message)


def _uses(file: File, node: ast.expr) -> list[ast.expr]:
    """Where the value is used: here, or where the variable is read that it goes to."""
    statement = file.parent(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return [node]
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return [node]
    scope = file.function(node) or file.source.tree
    return [
        one
        for one in ast.walk(scope)
        if isinstance(one, ast.Name) and one.id == target.id and isinstance(one.ctx, ast.Load)
    ]


def _decides(file: File, use: ast.expr) -> bool:
    """Whether more than options of GPUs and logs depends on a use."""
    if isinstance(file.statement(use), ast.Expr) and _is_only_told(file, file.statement(use)):
        return False
    block = next((one for one in file.parents(use) if isinstance(one, ast.If | ast.For)), None)
    if block is None:
        return True
    head = block.test if isinstance(block, ast.If) else block.iter
    is_head = any(one is use for one in ast.walk(head))
    return not (is_head and all(_is_only_told(file, one) for one in (*block.body, *block.orelse)))


def _is_only_told(file: File, statement: ast.stmt) -> bool:
    """Whether a statement sets options of GPUs, logs, or does nothing."""
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Call) or _sets_or_logs(file, statement.value)
    if isinstance(statement, ast.Assign):
        value = statement.value
        return isinstance(value, ast.Call) and file.full_name(value.func) in _LISTS
    if isinstance(statement, ast.Try | ast.For | ast.If):
        handlers = statement.handlers if isinstance(statement, ast.Try) else []
        final = statement.finalbody if isinstance(statement, ast.Try) else []
        handled = [one for handler in handlers for one in handler.body]
        inner = [*statement.body, *statement.orelse, *handled, *final]
        return all(_is_only_told(file, one) for one in inner)
    return isinstance(statement, ast.Pass)


def _sets_or_logs(file: File, call: ast.Call) -> bool:
    function = call.func
    last = function.attr if isinstance(function, ast.Attribute) else file.text(function)
    return file.full_name(function) in _SETTERS or last in _LOGS
