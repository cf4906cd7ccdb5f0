"""Use numbers for switches in the graph.

The NPU has no strings. A model that asks its phase with `tf.equal(phase, 'train')` cannot be
compiled for it; the same switch as a small integer can. Where the phase is known when the graph
is built, a Python `if` is better still.

    -phase = tf.constant('train', dtype=tf.string)
    -is_training = tf.equal(phase, tf.constant('train', dtype=tf.string))
    +phase = tf.constant(1, dtype=tf.int8)
    +is_training = tf.equal(phase, tf.constant(1, dtype=tf.int8))

By hand: always. Not told: strings of input pipelines, file names and summaries.

Source: Ascend TF Adapter 1.x migration guide, supported types; the vendor's own port of a CRNN.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._device_code import is_on_device
from trainferry.migrate.rules._followed import set_values

CONCERN = Concern.RUN

_TENSORS = frozenset(
    ("tf.constant", "tf.placeholder", "tf.placeholder_with_default", "tf.convert_to_tensor")
)


@on_call("tf.equal", "tf.math.equal", "tf.not_equal", "tf.math.not_equal")
def string_switch(call: Call, file: File) -> Iterator[Finding]:
    sides = [call.argument(0, "x"), call.argument(1, "y")]
    if is_on_device(file, call.node) and any(_is_string(one, file) for one in sides if one):
        yield Finding(
            call,
            Outcome.BY_HAND,
            "the NPU has no strings: make both sides integers, such as `tf.constant(1, tf.int8)`, "
            "or decide in Python when the graph is built",
        )


def _is_string(node: ast.expr, file: File) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    return any(_makes_string(value, file) for value in set_values(file, node))


def _makes_string(node: ast.expr, file: File) -> bool:
    if not isinstance(node, ast.Call) or file.full_name(node.func) not in _TENSORS:
        return False
    arguments = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg != "name")]
    return any(
        file.full_name(one) == "tf.string"
        or (isinstance(one, ast.Constant) and isinstance(one.value, str | bytes))
        for one in arguments[:2]
    )
