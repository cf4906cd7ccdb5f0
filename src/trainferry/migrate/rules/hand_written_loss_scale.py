"""Let the device look for overflows of a loss that is scaled by hand.

Code that multiplies the loss by a scale and divides the gradients again works on every chip, but
a chip of the first generation (910) does not show an overflow in the values: it gives the largest
number instead of Inf, and the broken step is applied. `NPULossScaleOptimizer` scales, divides and
asks the status of the device.

    -grads = opt.compute_gradients(loss * loss_scale)
    -grads = [(grad / loss_scale, var) for grad, var in grads]
    +opt = NPULossScaleOptimizer(opt, FixedLossScaleManager(loss_scale=loss_scale))
    +grads = opt.compute_gradients(loss)

By hand: always, and only for the 910; newer chips give Inf and NaN.

Source: Ascend TF Adapter 1.x migration guide, mixed precision training.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._npu import last_identifier, scope_of

CONCERN = Concern.PRECISION

_MESSAGE = (
    "a 910 gives no Inf where the scaled loss overflows; scale with "
    "`NPULossScaleOptimizer(opt, FixedLossScaleManager(loss_scale={scale}))` and leave the "
    "multiplication and the division out"
)


@on_file
def hand_written_loss_scale(file: File) -> Iterator[Finding]:
    if not file.options.saturates or b"loss_scale" not in file.source.data.lower():
        return
    told: set[ast.AST] = set()
    for node in ast.walk(file.source.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            scale = _scale_of_loss(node)
            scope = scope_of(file, node)
            if scale is not None and scope not in told and _is_taken_off(scope):
                told.add(scope)
                message = _MESSAGE.format(scale=file.text(scale))
                yield Finding(Spot(file.source, node), Outcome.BY_HAND, message)


def _scale_of_loss(product: ast.BinOp) -> ast.expr | None:
    """`loss_scale` of `loss * loss_scale`."""
    for scale, loss in ((product.right, product.left), (product.left, product.right)):
        if _is_scale(scale) and not _is_scale(loss) and _is_loss(loss):
            return scale
    return None


def _is_taken_off(scope: ast.AST) -> bool:
    """Whether something is divided by a loss scale, or multiplied by its inverse."""
    return any(
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_scale(node.right)
        for node in ast.walk(scope)
    )


def _is_scale(node: ast.expr) -> bool:
    return "loss_scale" in last_identifier(node).lower()


def _is_loss(node: ast.expr) -> bool:
    return any(
        isinstance(one, ast.Name | ast.Attribute) and "loss" in last_identifier(one).lower()
        for one in ast.walk(node)
    )
