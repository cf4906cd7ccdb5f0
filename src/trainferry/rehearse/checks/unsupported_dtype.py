"""A dtype that the NPU does not compute in.

The vendor documents float64, complex64, complex128 and variant tensors (ragged tensors, lists)
as not supported in training. Prototypes of some operators name float64 and complex numbers; then
the device's small processors may run them, slowly, and it is a risk. Where no prototype does, it
is refused.

Compute in float32: `dtype=tf.float32`, `tf.cast`, NumPy arrays with `.astype("float32")` before
they become constants.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.facts import Operator
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.operator_table import operator_table
from trainferry.rehearse.tracing.places import kinds_of, names_of, number_of, places_of
from trainferry.rehearse.tracing.rank import Rank

UNSUPPORTED = ("float64", "complex64", "complex128", "variant")
# They only bring a value to where it is computed with.
_CARRIES = ("Const", "Identity", "IdentityN", "NoOp", "Assert", "StopGradient")


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        mild = step.leaves_to_host
        for dtype in UNSUPPORTED:
            found = [one for one in step.on_device if _computes(one, dtype)]
            if not found:
                continue
            refused = [one for one in found if not _is_listed(one, dtype)]
            yield Finding(
                "unsupported-dtype",
                Severity.REFUSED if refused and not mild else Severity.RISK,
                f"{number_of(found)} compute in {dtype}: {kinds_of(refused or found)}",
                "cast to float32" if dtype == "float64" else f"do without {dtype}",
                places_of(refused or found),
                names_of(found),
            )


def _computes(operator: Operator, dtype: str) -> bool:
    if operator.kind in _CARRIES:
        return False
    return any(output.dtype == dtype for output in operator.outputs)


def _is_listed(operator: Operator, dtype: str) -> bool:
    if dtype == "variant":
        return operator.kind.startswith("TensorList")
    listed = operator_table().get(operator.kind)
    return listed is not None and listed.takes(dtype)
