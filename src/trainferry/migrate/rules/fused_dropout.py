"""Use the dropout operator of the NPU.

`npu_ops.dropout` makes and applies its mask with two NPU operators where `tf.nn.dropout` uses
many. It draws other random numbers, so a migrated run cannot be compared with the original
value by value.

    -net = tf.nn.dropout(net, rate=0.2)
    +net = npu_ops.dropout(net, keep_prob=1 - (0.2))

By hand: calls with `*args` or `**options`, because `rate` may hide in them, and calls with both
`keep_prob` and `rate`. Not touched: calls with a `noise_shape`, for which the operator gives no
speed.

Source: TF Adapter 1.15, npu_bridge/estimator/npu_ops.py, `dropout`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call, wrap
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call

CONCERN = Concern.SPEED


@on_call("tf.nn.dropout")
def fused_dropout(call: Call, file: File) -> Iterator[Finding]:
    if call.has_star_arguments or _says_both(call):
        message = "write `npu_ops.dropout(x, keep_prob=...)`; `rate` is not accepted"
        yield Finding(call, Outcome.BY_HAND, message)
        return
    if not _is_none(call.argument(2, "noise_shape")):
        return

    edits = [call.replace_function("npu_ops.dropout")]
    if rate := call.keyword("rate"):
        edits.append(call.rename_keyword(rate, "keep_prob"))
        edits += wrap(file.source, rate.value, "1 - (", ")")
    yield Finding(
        call,
        Outcome.CHECK,
        "dropout draws other random numbers on the NPU",
        tuple(edits),
        imports=("from npu_bridge.estimator import npu_ops",),
    )


def _says_both(call: Call) -> bool:
    is_kept = call.argument(1, "keep_prob") is not None
    return is_kept and call.argument(5, "rate") is not None


def _is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)
