"""Scale the loss with the optimizer of the NPU.

With mixed precision the loss is multiplied by a scale, and a step whose gradients overflow is
left out. A chip of the first generation (910) gives the largest number instead of Inf and NaN,
so TensorFlow's check never finds an overflow there; `NPULossScaleOptimizer` asks the device. On
newer chips it does what TensorFlow's does, so the migrated code is right on all of them. The
numbers of the scale stay TensorFlow's, also where the defaults of the NPU's classes differ.

    -scale = tf.train.experimental.DynamicLossScale()
    -opt = tf.train.experimental.MixedPrecisionLossScaleOptimizer(opt, scale)
    +scale = ExponentialUpdateLossScaleManager(init_loss_scale=2**15, incr_every_n_steps=2000,
    +                                          decr_every_n_nan_or_inf=1, decr_ratio=0.5)
    +opt = NPULossScaleOptimizer(opt, scale)

In a project for several devices the optimizer also gets `is_distributed`, true when the launcher
started more than one: with `RANK_SIZE`, or with `CM_WORKER_SIZE` for clusters without a rank
table. The adapter's `get_rank_size()` would need communication to be up by then.

By hand: scales that go elsewhere too, scales that are not known, and managers that would be made
inside `with tf.control_dependencies(...)`, where their variables cannot be initialised.

Source: Ascend TF Adapter 1.x migration guide, mixed precision training; TF Adapter 1.15,
npu_loss_scale_manager.py, npu_loss_scale_optimizer.py, util.py `get_ranksize`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_name
from trainferry.migrate.rules._loss_scale import (
    DYNAMIC,
    MANAGERS,
    feeds_optimizer_only,
    in_dependencies,
    is_contrib,
    loss_scale_name,
    takes_manager,
)
from trainferry.migrate.rules._loss_scale_edits import (
    dynamic_edits,
    is_dynamic_word,
    manager_edits,
    renamed,
)
from trainferry.migrate.rules._npu import is_distributed
from trainferry.migrate.surface import import_for

CONCERN = Concern.PRECISION
LINT = True

IS_DISTRIBUTED = (
    'is_distributed=int(os.getenv("RANK_SIZE") or os.getenv("CM_WORKER_SIZE") or 1) > 1'
)
_OUTSIDE = (
    "make the manager before `with tf.control_dependencies(...)`: its variables cannot be "
    f"initialised inside; `{DYNAMIC}` has TensorFlow's defaults"
)
_PASS_MANAGER = (
    "write `NPULossScaleOptimizer(opt, manager)` with a `FixedLossScaleManager(loss_scale=...)` "
    f"for a number, and for a dynamic scale `{DYNAMIC}`"
)


@on_call("tf.contrib.mixed_precision.*")
def contrib(call: Call, file: File) -> Iterator[Finding]:
    """The NPU's classes are subclasses with the same arguments."""
    name = loss_scale_name(call.name)
    if name in MANAGERS and name is not None:
        if name.startswith("Exponential") and in_dependencies(file, call.node):
            yield Finding(call, Outcome.BY_HAND, _OUTSIDE)
        else:
            message = "asks the device for overflows, with the same numbers"
            yield _replaced(call, name, message)
    elif name == "LossScaleOptimizer":
        edits = [call.replace_function("NPULossScaleOptimizer")]
        yield _optimizer(call, file, edits, "asks the device for overflows")


@on_call("tf.train.experimental.*", "tensorflow.python.training.experimental.*")
def experimental(call: Call, file: File) -> Iterator[Finding]:
    name = loss_scale_name(call.name)
    if name in ("FixedLossScale", "DynamicLossScale"):
        yield _scale(call, file, name)
    elif name is not None:
        yield _wrapper(call, file, name)


@on_call("npu_bridge.*")
def made_inside(call: Call, file: File) -> Iterator[Finding]:
    name = loss_scale_name(call.name) or ""
    if name.startswith("Exponential") and in_dependencies(file, call.node):
        yield Finding(call, Outcome.BY_HAND, _OUTSIDE, concern=Concern.RUN)


@on_name("tf.contrib.mixed_precision.*", "tf.train.experimental.*")
def subclass(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    if loss_scale_name(name) and isinstance(file.parent(spot.node), ast.ClassDef):
        home = "NPULossScaleOptimizer" if name.endswith("Optimizer") else "the NPU's manager"
        message = f"make it a subclass of {home}: only that asks the device for overflows"
        if is_contrib(name) or name.endswith("Optimizer"):
            yield Finding(spot, Outcome.BY_HAND, message)


def _scale(call: Call, file: File, name: str) -> Finding:
    manager = "FixedLossScaleManager(loss_scale=...)" if name == "FixedLossScale" else DYNAMIC
    if call.has_star_arguments or not feeds_optimizer_only(file, call.node):
        message = f"write `{manager}` where it goes to an `NPULossScaleOptimizer`"
        return Finding(call, Outcome.BY_HAND, message)
    if name == "FixedLossScale":
        labels = renamed(call, {"loss_scale_value": "loss_scale"})
        message = "a step that overflows is left out now; TensorFlow applied it"
        return _replaced(call, "FixedLossScaleManager", message, labels, Outcome.CHECK)
    if in_dependencies(file, call.node):
        return Finding(call, Outcome.BY_HAND, _OUTSIDE)
    edits = dynamic_edits(call, file)
    if edits is None:
        message = f"write `{DYNAMIC}` with your numbers; `decr_ratio` is 1 / `multiplier`"
        return Finding(call, Outcome.BY_HAND, message)
    message = "scales by the same numbers as before"
    return _replaced(call, "ExponentialUpdateLossScaleManager", message, edits)


def _wrapper(call: Call, file: File, name: str) -> Finding:
    """`MixedPrecisionLossScaleOptimizer(opt, loss_scale)`, or the rewrite that makes one."""
    is_rewrite = name == "enable_mixed_precision_graph_rewrite"
    loss_scale = call.argument(1, "loss_scale")
    if call.has_star_arguments:
        return Finding(call, Outcome.BY_HAND, _PASS_MANAGER)
    if not takes_manager(call, file):
        message = "Keras optimizers cannot scale the loss on the NPU; use one of `tf.train`"
        return Finding(call, Outcome.BY_HAND, message)
    is_dynamic = loss_scale is None or is_dynamic_word(loss_scale)
    if is_dynamic and in_dependencies(file, call.node):
        return Finding(call, Outcome.BY_HAND, _OUTSIDE)
    found = manager_edits(call, file, loss_scale)
    if found is None:
        return Finding(call, Outcome.BY_HAND, _PASS_MANAGER)
    edits, managers, added = found
    edits.append(call.replace_function("NPULossScaleOptimizer"))
    message = "asks the device for overflows"
    if is_rewrite:
        message += "; mixed precision itself is now chosen by `precision_mode`, not by this call"
    outcome = Outcome.CHECK if is_rewrite else Outcome.CHANGED
    return _optimizer(call, file, edits, message, outcome, managers, added)


def _optimizer(
    call: Call,
    file: File,
    edits: list[Edit],
    message: str,
    outcome: Outcome = Outcome.CHANGED,
    managers: tuple[str, ...] = (),
    added: str = "",
) -> Finding:
    """`NPULossScaleOptimizer` with what else it needs."""
    imports = [import_for(name) for name in ("NPULossScaleOptimizer", *managers)]
    keywords = [added] if added else []
    if is_distributed(file.project):
        keywords.append(IS_DISTRIBUTED)
        imports.append("import os")
    if keywords:
        edits = [*edits, call.add_keyword(", ".join(keywords))]
    needed = tuple(one for one in imports if one is not None)
    return Finding(call, outcome, message, tuple(edits), needed)


def _replaced(
    call: Call,
    name: str,
    message: str,
    edits: list[Edit] | None = None,
    outcome: Outcome = Outcome.CHANGED,
) -> Finding:
    statement = import_for(name)
    assert statement is not None
    return Finding(
        call, outcome, message, (call.replace_function(name), *(edits or ())), (statement,)
    )
