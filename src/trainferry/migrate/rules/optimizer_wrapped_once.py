"""Let each optimizer average its gradients over all devices.

A data-parallel program on NPUs reduces gradients in the optimizer. Each one is wrapped where it
is made, and exactly once: an optimizer that is wrapped twice would reduce its gradients twice.
On one device the wrapper does nothing.

    -optimizer = tf.train.AdamOptimizer(rate)
    +optimizer = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(rate))

By hand: classes that are kept in a table and called later, the project's own optimizers, and an
optimizer that may already reach a wrapper on another way.
Not touched: projects that are not distributed, unless `--distributed hccl` or `strategy` asks for
it, and projects with Horovod, whose optimizers are wrapped already.

Source: TF Adapter 1.15, npu_bridge/estimator/npu/npu_optimizer.py,
`npu_distributed_optimizer_wrapper`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call, wrap
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file, on_name
from trainferry.migrate.rules._distributed import WRAPPER, imports_of, is_made_parallel
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._npu import npu_name, scope_of

CONCERN = Concern.DISTRIBUTED

OPTIMIZERS = (
    *(
        f"tf.train.{name}Optimizer"
        for name in (
            *("Adadelta", "AdagradDA", "Adagrad", "Adam", "Ftrl", "GradientDescent", "Momentum"),
            *("ProximalAdagrad", "ProximalGradientDescent", "RMSProp"),
        )
    ),
    *(
        f"tf.contrib.opt.{name}Optimizer"
        for name in (
            *("AdaMax", "AdamGS", "AdamW", "AddSign", "GGT", "LARS", "LazyAdamGS", "LazyAdam"),
            *("MomentumW", "Nadam", "PowerSign", "RegAdagrad", "Shampoo"),
        )
    ),
    *(
        f"tf.keras.optimizers.{name}"
        for name in ("Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD")
    ),
    *(
        f"tensorflow.python.keras.optimizer_v2.{name}"
        for name in (
            *("adadelta.Adadelta", "adagrad.Adagrad", "adam.Adam", "adamax.Adamax", "ftrl.Ftrl"),
            *("gradient_descent.SGD", "nadam.Nadam", "rmsprop.RMSprop"),
        )
    ),
)
_WRAPPERS = frozenset(
    (
        WRAPPER,
        "NPUDistributedOptimizer",
        "NPUOptimizer",
        "KerasDistributeOptimizer",
        "npu_tf_optimizer",
        "npu_keras_optimizer",
    )
)
_BASES = frozenset((*OPTIMIZERS, "tf.train.Optimizer", "tf.keras.optimizers.Optimizer"))


@on_call(*OPTIMIZERS)
def optimizer_wrapped_once(call: Call, file: File) -> Iterator[Finding]:
    if not is_made_parallel(file.project) or _is_wrapped_around(call, file):
        return
    if is_in_test(file, call.node):
        return
    wrapper = _wrapper_reached(call, file)
    if wrapper == "certain":
        return
    if wrapper == "possible":
        message = (
            f"wrap this optimizer with `{WRAPPER}(...)` unless it reaches the wrapper that this "
            "project has elsewhere: its gradients must be reduced exactly once"
        )
        yield Finding(call, Outcome.BY_HAND, message)
        return
    yield _wrapped(call, call.node)


@on_call("tf.keras.Model.compile")
def optimizer_by_name(call: Call, file: File) -> Iterator[Finding]:
    """`model.compile("adam")`."""
    optimizer = call.argument(0, "optimizer")
    if not isinstance(optimizer, ast.Constant) or not isinstance(optimizer.value, str):
        return
    if is_made_parallel(file.project) and not is_in_test(file, call.node):
        yield _wrapped(call, optimizer)


def _wrapped(call: Call, optimizer: ast.expr) -> Finding:
    edits = wrap(call.source, optimizer, f"{WRAPPER}(", ")")
    message = "gradients are averaged over all devices; on one device nothing changes"
    return Finding(call, Outcome.CHANGED, message, edits, imports_of(WRAPPER))


@on_name(*OPTIMIZERS)
def optimizer_class(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    above = file.parent(spot.node)
    is_call = isinstance(above, ast.Call) and above.func is spot.node
    if is_call or isinstance(above, ast.ClassDef) or not is_made_parallel(file.project):
        return
    if any(_is_type_test(one) for one in file.parents(spot.node)):
        return
    short = name.rpartition(".")[2]
    message = f"`{short}` is called elsewhere: wrap what that call gives with `{WRAPPER}(...)`"
    yield Finding(spot, Outcome.BY_HAND, message)


@on_file
def own_optimizer(file: File) -> Iterator[Finding]:
    if not is_made_parallel(file.project):
        return
    for node in file.classes:
        if any(file.full_name(base) in _BASES for base in node.bases):
            message = f"wrap each `{node.name}(...)` with `{WRAPPER}(...)` where it is made, once"
            yield Finding(Spot(file.source, node), Outcome.BY_HAND, message)


def _is_type_test(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "issubclass")
    )


def _is_wrapped_around(call: Call, file: File) -> bool:
    return any(
        isinstance(above, ast.Call) and npu_name(file.full_name(above.func)) in _WRAPPERS
        for above in file.parents(call.node)
    )


def _wrapper_reached(call: Call, file: File) -> str:
    """Whether the optimizer reaches a wrapper on another way than as its argument."""
    target = _target(call, file)
    scope = scope_of(file, call.node)
    found = "no"
    for elsewhere in file.project.files:
        for wrapper in elsewhere.calls:
            if npu_name(wrapper.name) not in _WRAPPERS or _holds_optimizer(wrapper, elsewhere):
                continue
            given = wrapper.argument(0, "optimizer") or wrapper.argument(0, "opt")
            is_near = elsewhere is file and scope_of(file, wrapper.node) is scope
            if is_near and target and given is not None and file.text(given) == target:
                return "certain"
            found = "possible"
    return found


def _holds_optimizer(wrapper: Call, file: File) -> bool:
    """Whether the wrapper is around an optimizer that is made right there."""
    return any(
        isinstance(node, ast.Call) and file.full_name(node.func) in OPTIMIZERS
        for node in ast.walk(wrapper.node)
    )


def _target(call: Call, file: File) -> str | None:
    above = file.statement(call.node)
    if isinstance(above, ast.Assign) and len(above.targets) == 1:
        return file.text(above.targets[0])
    return None
