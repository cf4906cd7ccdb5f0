"""Use the GELU operator of the NPU.

Many projects write GELU out with its tanh approximation. `npu_unary_ops.gelu` is one operator
for the same formula. A function is recognised by what it computes, not by its name; its
docstring and comments stay. The last digits can differ.

     def gelu(x):
         \"\"\"Gaussian error linear unit.\"\"\"
    -    cdf = 0.5 * (1.0 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))
    -    return x * cdf
    +    return npu_unary_ops.gelu(x)

By hand: the exact GELU with `tf.erf`, which is another function (up to 0.0005 away), functions
with decorators, and functions called `gelu` whose formula is not understood.

Source: Ascend TF Adapter 1.x migration guide, GELU; npu_bridge/estimator/npu_unary_ops.py.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File, Function
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._formula import (
    NotAFormulaError,
    may_be_formula,
    value_at,
    without_docstring,
)
from trainferry.migrate.statements import remove_statement

CONCERN = Concern.SPEED
OPT_IN = True

_IMPORT = "from npu_bridge.estimator.npu_unary_ops import npu_unary_ops"
_POINTS = (-3.1, -1.3, -0.4, 0.0, 0.7, 1.9, 4.2)


@on_file
def fused_gelu(file: File) -> Iterator[Finding]:
    for function in file.functions:
        at = Spot(file.source, function)
        if (parameter := _parameter_of(function, _tanh_gelu, file)) is not None:
            edits = _edits(function, parameter, file)
            if edits is None:
                message = f"return `npu_unary_ops.gelu({parameter})`: it is the same formula"
                yield Finding(at, Outcome.BY_HAND, message)
            else:
                message = "one operator for the same formula; the last digits can differ"
                yield Finding(at, Outcome.CHECK, message, edits, imports=(_IMPORT,))
        elif _parameter_of(function, _exact_gelu, file) is not None:
            yield Finding(
                at,
                Outcome.BY_HAND,
                "the exact GELU; `npu_unary_ops.gelu` is the tanh approximation, up to 0.0005 "
                "away: use it only if that does not matter",
            )
        elif function.name == "gelu" and "npu_unary_ops" not in file.text(function):
            message = "use `npu_unary_ops.gelu` where this is GELU with the tanh approximation"
            yield Finding(at, Outcome.BY_HAND, message)


def _tanh_gelu(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _exact_gelu(x: float) -> float:
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def _parameter_of(function: Function, is_this: Callable[[float], float], file: File) -> str | None:
    """The parameter of which a function computes `is_this`."""
    if not may_be_formula(function):
        return None
    for parameter in [*function.args.posonlyargs, *function.args.args]:
        try:
            values = [value_at(function, parameter.arg, point, file) for point in _POINTS]
        except NotAFormulaError:
            continue
        pairs = zip(values, map(is_this, _POINTS), strict=True)
        if all(math.isclose(one, other, abs_tol=2e-6) for one, other in pairs):
            return parameter.arg
    return None


def _edits(function: Function, parameter: str, file: File) -> tuple[Edit, ...] | None:
    *assignments, last = without_docstring(function)
    assert isinstance(last, ast.Return)
    assert last.value is not None
    if function.decorator_list or function.lineno == last.lineno:
        return None
    edits: list[Edit] = []
    for assignment in assignments:
        edit = remove_statement(file, assignment)
        if edit is None:
            return None
        edits.append(edit)
    start, end = file.source.span(last.value)
    return (*edits, Edit(start, end, f"npu_unary_ops.gelu({parameter})"))
