"""Find types that the NPU does not have.

The NPU computes in 16 and 32 bits: there is no `tf.float64`, no complex number and no ragged
tensor. Such a value in the model stops the compilation, or is computed on the host's side of
the card.

    -weights = tf.cast(weights, tf.float64)
    +weights = tf.cast(weights, tf.float32)

By hand: always, because the type was chosen for a reason. Not told: types in input pipelines, in
comparisons and tables of types, and for NumPy.

Source: Ascend TF Adapter 1.x migration guide, supported types.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_name
from trainferry.migrate.rules._device_code import is_on_device

CONCERN = Concern.RUN

# Their types are those of files, of Python functions or of questions, not of a tensor in the model.
_NO_TENSOR = re.compile(
    r"tf\.(FixedLen|VarLen|SparseFeature|TensorSpec|TensorShape|DType|as_dtype|decode_|parse_"
    r"|py_func|numpy_function|data\.|io\.|dtypes\.|feature_column\.|string_to_number|strings\."
    r"|errors\.|test\.|summary\.|ConfigProto|compat\.as_)"
)
_FLOAT = "the NPU has no 64-bit floating point: use `tf.float32`"
_COMPLEX = "the NPU has no complex numbers: keep real and imaginary part in two tensors"
_RAGGED = "the NPU has no ragged tensors: pad to a fixed length and keep the lengths"


@on_name("tf.float64", "tf.double", "tf.complex64", "tf.complex128")
def dtype(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    call = _call_around(spot.node, file)
    maker = None if call is None else file.full_name(call.func)
    if maker is None or not maker.startswith("tf.") or _NO_TENSOR.match(maker):
        return
    if is_on_device(file, spot.node):
        yield Finding(spot, Outcome.BY_HAND, _message(name))


@on_call(
    "tf.to_double",
    "tf.to_complex64",
    "tf.to_complex128",
    "tf.complex",
    "tf.dtypes.complex",
    "tf.ragged.*",
    "tf.RaggedTensor.*",
)
def maker(call: Call, file: File) -> Iterator[Finding]:
    if not is_on_device(file, call.node):
        return
    yield Finding(call, Outcome.BY_HAND, _RAGGED if "agged" in call.name else _message(call.name))


def _message(name: str) -> str:
    return _COMPLEX if "complex" in name else _FLOAT


def _call_around(node: ast.AST, file: File) -> ast.Call | None:
    """The call that gets a type as its argument, alone or by keyword."""
    above = file.parent(node)
    if isinstance(above, ast.keyword):
        above = file.parent(above)
    if isinstance(above, ast.Call) and node is not above.func:
        return above
    return None
