"""Leave the search for overflows to the loss scale optimizer.

Code that scales the loss looks for Inf and NaN in the gradients and leaves the step out. A
chip of the first generation (910) never gives Inf or NaN: an overflow gives the largest number,
so such a check always says that all is well, and broken gradients are applied.
`NPULossScaleOptimizer` asks the device itself, on every chip, and on all devices together.

    -finite = tf.reduce_all([tf.reduce_all(tf.is_finite(g)) for g in grads])
    -train_op = tf.cond(finite, apply, tf.no_op)
    +train_op = NPULossScaleOptimizer(opt, manager).apply_gradients(grads_and_vars)

By hand: always. Not told: checks of other values than gradients, on chips that give Inf.

Source: Ascend TF Adapter 1.x migration guide, loss scale; npu_loss_scale_optimizer.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._device_code import is_on_device

CONCERN = Concern.PRECISION

_GRADIENT = re.compile(r"(?<![a-z])(?<!stop_)grad(ient)?s?(?![a-z])|loss_?scal", re.IGNORECASE)


@on_call(
    *(
        f"tf.{where}is_{what}"
        for where in ("", "math.", "debugging.")
        for what in ("finite", "inf", "nan")
    ),
    "tf.check_numerics",
    "tf.debugging.check_numerics",
    "tf.add_check_numerics_ops",
    "tf.verify_tensor_all_finite",
    "tf.debugging.assert_all_finite",
)
def finite_check(call: Call, file: File) -> Iterator[Finding]:
    if not is_on_device(file, call.node):
        return
    is_of_gradients = _is_about_gradients(call, file)
    if file.options.saturates:
        instead = (
            "let `NPULossScaleOptimizer` look for overflows"
            if is_of_gradients
            else "compare with the largest number of the type instead"
        )
        message = f"never finds an overflow on a 910, which has no Inf and NaN; {instead}"
        yield Finding(call, Outcome.BY_HAND, message, concern=Concern.RESULT)
    elif is_of_gradients:
        yield Finding(
            call,
            Outcome.BY_HAND,
            "leave the check to `NPULossScaleOptimizer`, which asks the device for overflows "
            "and leaves the step out on all devices together",
        )


def _is_about_gradients(call: Call, file: File) -> bool:
    function = file.function(call.node)
    around = file.text(file.statement(call.node))
    return bool(_GRADIENT.search(around) or (function and _GRADIENT.search(function.name)))
