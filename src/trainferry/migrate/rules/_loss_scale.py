"""The classes that scale the loss: TensorFlow's two families and the NPU's."""

from __future__ import annotations

import ast

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.rules._npu import assigned_to, called, names_in, npu_name, scope_of

_TRAIN = ("tf.train.experimental.", "tensorflow.python.training.experimental.")
_CONTRIB = "tf.contrib.mixed_precision."
MANAGERS = frozenset(("FixedLossScaleManager", "ExponentialUpdateLossScaleManager"))
SCALES = frozenset(("FixedLossScale", "DynamicLossScale"))
_OPTIMIZERS = frozenset(
    (
        "MixedPrecisionLossScaleOptimizer",
        "enable_mixed_precision_graph_rewrite",
        "LossScaleOptimizer",
        "NPULossScaleOptimizer",
        "NPUOptimizer",
    )
)
_ALL = MANAGERS | SCALES | _OPTIMIZERS

DYNAMIC = (
    "ExponentialUpdateLossScaleManager(init_loss_scale=2**15, incr_every_n_steps=2000, "
    "decr_every_n_nan_or_inf=1, incr_ratio=2, decr_ratio=0.5)"
)


def loss_scale_name(name: str | None) -> str | None:
    """The last part of a full name that is one of the classes; None for all other names."""
    if name is None:
        return None
    is_ours = name.startswith((*_TRAIN, _CONTRIB)) or npu_name(name) is not None
    last = name.rpartition(".")[2]
    return last if is_ours and last in _ALL else None


def is_contrib(name: str) -> bool:
    return name.startswith(_CONTRIB)


def scales_loss(project: ProjectFiles) -> bool:
    """Whether any file of the project uses one of the classes."""
    return project.once(_scales_loss)


def _scales_loss(project: ProjectFiles) -> bool:
    return any(loss_scale_name(name) for name in project.used)


def is_manager(file: File, node: ast.expr | None) -> bool:
    """Whether all that an argument can be is, or is made, a manager of the NPU."""
    if node is None:
        return False
    values = assigned_to(file, node)
    return bool(values) and all(_becomes_manager(file, value) for value in values)


def _becomes_manager(file: File, value: ast.expr) -> bool:
    name = loss_scale_name(called(file, value))
    if name in MANAGERS:
        return True
    return name in SCALES and not (name == "DynamicLossScale" and in_dependencies(file, value))


def feeds_optimizer_only(file: File, call: ast.Call) -> bool:
    """Whether a scale goes nowhere but to an optimizer that takes a manager afterwards."""
    above = file.parent(call)
    if isinstance(above, ast.Assign) and all(isinstance(to, ast.Name) for to in above.targets):
        names = [to.id for to in above.targets if isinstance(to, ast.Name)]
        places = [one for name in names for one in names_in(scope_of(file, call), name)]
        reads = [one for one in places if isinstance(one.ctx, ast.Load)]
        given = [one for one in reads if not _is_compared(file, one)]
        return (
            bool(given)
            and all(_is_given(file, one) for one in given)
            and is_manager(file, given[0])
        )
    return _is_given(file, call)


def _is_given(file: File, node: ast.expr) -> bool:
    """Whether it is the second argument of an optimizer that is, or becomes, the NPU's."""
    above = file.parent(node)
    if isinstance(above, ast.keyword):
        named = above.arg in ("loss_scale", "loss_scale_manager")
        above = file.parent(above)
    else:
        named = isinstance(above, ast.Call) and above.args[1:2] == [node]
    if not (named and isinstance(above, ast.Call)):
        return False
    name = loss_scale_name(called(file, above)) or ""
    return name in _OPTIMIZERS - {"LossScaleOptimizer"} and takes_manager(
        Call(file.source, above, name), file
    )


def _is_compared(file: File, node: ast.expr) -> bool:
    """`if scale is not None`, `if scale`."""
    return isinstance(file.parent(node), ast.Compare | ast.BoolOp | ast.If | ast.UnaryOp)


def takes_manager(call: Call, file: File) -> bool:
    """Whether an optimizer that scales the loss can be the NPU's: none around a Keras one."""
    optimizer = call.argument(0, "opt")
    if call.has_star_arguments or optimizer is None:
        return not call.has_star_arguments
    kind = file.class_of(optimizer) or file.full_name(getattr(optimizer, "func", optimizer))
    if kind is None:
        return not any(name.startswith("tf.keras.optimizers.") for name in file.used)
    return not kind.startswith(("tf.keras.optimizers.", "keras.optimizers."))


def in_dependencies(file: File, node: ast.AST) -> bool:
    """Whether it is made inside `with tf.control_dependencies(…)`."""
    for above in file.parents(node):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return False
        if isinstance(above, ast.With) and any(
            isinstance(item.context_expr, ast.Call)
            and isinstance(function := item.context_expr.func, ast.Attribute | ast.Name)
            and ast.unparse(function).rpartition(".")[2] == "control_dependencies"
            for item in above.items
        ):
            return True
    return False
