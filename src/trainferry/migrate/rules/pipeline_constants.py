"""Keep variables and fed values out of the input pipeline.

The pipeline stays on the host; variables and their initialisers go to the NPU. A batch size that
is fed, or a variable that a mapped function reads, is therefore not set when the pipeline asks
for it, and a fed batch size leaves the shape of every batch open. Write a constant.

    -batch_size = tf.placeholder(tf.int64)
    +batch_size = 32
     dataset = dataset.batch(batch_size)

By hand: always; the number is yours to choose.
Not touched: placeholders that the data itself comes from, such as a list of file names.

Source: Ascend TF Adapter 1.x migration guide, restrictions of data preprocessing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file
from trainferry.migrate.rules._dataflow import functions_of_pipelines, only_value, text_in_line
from trainferry.migrate.rules._followed import set_values

CONCERN = Concern.RUN

_VARIABLES = frozenset(("tf.Variable", "tf.get_variable", "tf.contrib.eager.Variable"))
_FED = frozenset(("tf.placeholder", "tf.placeholder_with_default"))


@on_call(
    "tf.data.Dataset.batch",
    "tf.data.Dataset.padded_batch",
    "tf.data.Dataset.shuffle",
    "tf.data.Dataset.repeat",
)
def pipeline_constants(call: Call, file: File) -> Iterator[Finding]:
    arguments = [*call.node.args, *(keyword.value for keyword in call.node.keywords)]
    for argument in arguments:
        kind = _kind(file, argument)
        if kind is not None:
            message = (
                f"`{text_in_line(file, argument)}` is a {kind}, which the pipeline on the host "
                "cannot read on an NPU: write a constant"
            )
            yield Finding(Spot(file.source, argument), Outcome.BY_HAND, message)


@on_file
def mapped_variables(file: File) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    if not any(name in _VARIABLES for name in file.used):
        return
    for function in functions_of_pipelines(file):
        for node in ast.walk(function):
            if node not in seen and _is_variable(file, node):
                seen.add(node)
                message = (
                    f"`{text_in_line(file, node)}` is a variable inside a function of the input "
                    "pipeline, which is never initialised on an NPU: write a constant"
                )
                yield Finding(Spot(file.source, node), Outcome.BY_HAND, message)


def _kind(file: File, node: ast.expr) -> str | None:
    value = only_value(file, node) if isinstance(node, ast.Name) else _only_set(file, node)
    name = file.full_name(value.func) if isinstance(value, ast.Call) else None
    return "placeholder" if name in _FED else "variable" if name in _VARIABLES else None


def _only_set(file: File, node: ast.expr) -> ast.expr | None:
    """The one thing that an attribute is set to, besides the None of an `__init__`."""
    values = [
        one
        for one in set_values(file, node)
        if not (isinstance(one, ast.Constant) and one.value is None)
    ]
    return values[0] if len(values) == 1 else None


def _is_variable(file: File, node: ast.AST) -> bool:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        value = only_value(file, node)
    else:
        value = node if isinstance(node, ast.Call) else None
    return isinstance(value, ast.Call) and file.full_name(value.func) in _VARIABLES
