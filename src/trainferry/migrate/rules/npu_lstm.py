"""Know the recurrent operators of the NPU.

`tf.nn.dynamic_rnn` runs a loop with many small operators per step. For a plain LSTM or GRU the
NPU has one operator for all steps. It takes its input time-major and gives eight outputs (GRU:
six), the first of them the outputs of all steps. Its `forget_bias` is 0.0 unless told,
TensorFlow's is 1.0. It has variables of its own: checkpoints of the old cells do not fit.

    -cell = tf.nn.rnn_cell.LSTMCell(256)
    -outputs, state = tf.nn.dynamic_rnn(cell, net, dtype=tf.float32)
    +outputs = DynamicRNN(256, tf.float32, forget_bias=1.0)(tf.transpose(net, [1, 0, 2]))[0]

By hand: always; the code around it must know of the order of the axes and of the states. For the
GRU with attention there is `DynamicAUGRU`. Not told: cells with peepholes, projection, clipping or
another activation, other cells, and cells that the code around the call does not show.

Source: TF Adapter 1.15, npu_bridge/estimator/npu/npu_dynamic_rnn.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from trainferry.migrate.file import File, Function
from trainferry.migrate.find import Call
from trainferry.migrate.nodes import walk
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._device_code import is_test
from trainferry.migrate.rules._followed import set_values

CONCERN = Concern.SPEED

_HOMES = ("tf.nn.rnn_cell", "tf.contrib.rnn")
# Where each cell has its forget bias.
_FORGET_BIAS = {"LSTMCell": 8, "BasicLSTMCell": 1, "LSTMBlockCell": 1}
_GRU = ("GRUCell", "GRUBlockCell", "GRUBlockCellV2")
_LAYERS = ("MultiRNNCell", "DropoutWrapper")  # only hold cells together
_MAKE_IT_ANOTHER = ("use_peepholes", "use_peephole", "num_proj", "cell_clip", "proj_clip")
_DEEPEST = 3  # names and functions that are followed, one behind the other
_HOME = "npu_bridge.estimator.npu.npu_dynamic_rnn"
_HOW = {
    "tf.nn.dynamic_rnn": "called with time-major input",
    "tf.nn.static_rnn": "called with the stacked inputs",
    "tf.contrib.rnn.static_rnn": "called with the stacked inputs",
    "tf.nn.bidirectional_dynamic_rnn": "one per direction, with time-major input, the second over "
    "`tf.reverse(x, [0])` with its output reversed again",
    "tf.contrib.rnn.stack_bidirectional_dynamic_rnn": "one per layer and direction, with "
    "time-major input, the second over `tf.reverse(x, [0])` with its output reversed again, and "
    "`tf.concat` of both between the layers",
}
_DTYPE_AT = {"tf.nn.dynamic_rnn": 4, "tf.nn.bidirectional_dynamic_rnn": 6, "tf.nn.static_rnn": 3}


@on_call(*_HOW)
def npu_lstm(call: Call, file: File) -> Iterator[Finding]:
    first = None if call.has_star_arguments else call.argument(0, _cell_name(call))
    if first is None or is_test(file):
        return
    every = _all_cells(first, file)
    cells = [one for one in every if not one.name.endswith(_LAYERS)]
    plain = [text for cell in cells if (text := _operator(cell, call, file))]
    if not plain or len(plain) < len(cells):
        return
    kind = plain[0].partition("(")[0]
    message = (
        f"runs as it is, step by step; one operator does all steps: `{plain[0]}` of `{_HOME}`, "
        f"{_HOW[call.name]}"
    )
    if any(cell.name.endswith("DropoutWrapper") for cell in every):
        message += ", with dropout outside of it"
    if any(cell.name.endswith("MultiRNNCell") for cell in every):
        message += f", one `{kind}` per layer"
    yield Finding(call, Outcome.BY_HAND, message)


def _cell_name(call: Call) -> str:
    if call.name.endswith("stack_bidirectional_dynamic_rnn"):
        return "cells_fw"
    return "cell_fw" if "bidirectional" in call.name else "cell"


def _all_cells(node: ast.AST, file: File, depth: int = 0) -> list[Call]:
    """All cells of the libraries that an expression shows, also by names and functions nearby."""
    found: list[Call] = []
    for inner in walk(node):
        if isinstance(inner, ast.Call):
            name = file.full_name(inner.func)
            if name is not None and name.startswith(_HOMES) and name.endswith(("Cell", "Wrapper")):
                found.append(Call(file.source, inner, name))
            elif depth < _DEEPEST:
                for function in _called(inner, file):
                    found += _all_cells(function, file, depth + 1)
        elif _is_variable(inner) and depth < _DEEPEST:
            for value in set_values(file, inner):
                found += _all_cells(value, file, depth + 1)
    return found


def _called(call: ast.Call, file: File) -> Iterator[Function]:
    """The function of this file, or the method of `self`, that is called."""
    function = call.func
    name = function.id if isinstance(function, ast.Name) else None
    if isinstance(function, ast.Attribute) and file.text(function.value) == "self":
        name = function.attr
    return (one for one in file.functions if one.name == name)


def _is_variable(node: ast.AST) -> TypeGuard[ast.expr]:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id == "self"
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def _operator(cell: Call, call: Call, file: File) -> str | None:
    """The text of the operator that does the same; None for cells that it cannot do."""
    kind = cell.name.rpartition(".")[2]
    units = cell.argument(0, "num_units")
    if units is None or cell.has_star_arguments or _is_special(cell, file):
        return None
    dtype = call.argument(_DTYPE_AT.get(call.name, 5), "dtype")
    start = f"{file.text(units)}, {'tf.float32' if dtype is None else file.text(dtype)}"
    if kind in _GRU:
        return f"DynamicGRUV2({start}, gate_order='rzh', reset_after=False)"
    if kind not in _FORGET_BIAS:
        return None
    bias = cell.argument(_FORGET_BIAS[kind], "forget_bias")
    return f"DynamicRNN({start}, forget_bias={'1.0' if bias is None else file.text(bias)})"


def _is_special(cell: Call, file: File) -> bool:
    if any(_is_set(cell.keyword(name)) for name in _MAKE_IT_ANOTHER):
        return True
    if cell.name.endswith(".LSTMCell") and len(cell.node.args) > 1:
        return True
    activation = cell.keyword("activation")
    return _is_set(activation) and not (
        activation is not None and (file.full_name(activation.value) or "").endswith(".tanh")
    )


def _is_set(keyword: ast.keyword | None) -> bool:
    if keyword is None:
        return False
    return not (isinstance(keyword.value, ast.Constant) and keyword.value.value in (None, False))
