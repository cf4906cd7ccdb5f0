"""An operator gives as many elements as its input's values say.

`tf.where(mask)`, `tf.boolean_mask`, `tf.unique`, `tf.image.non_max_suppression`, sparse tensors
and their like have no shape before they run. The device needs shapes to compile a graph.

Compute with a mask and a fixed shape instead: `x * mask` for `boolean_mask`, `tf.where(mask, x,
0)` for a choice, dense labels padded to the longest for sparse ones,
`non_max_suppression_padded` for `non_max_suppression`. Where that cannot be, turn
`compile_dynamic_mode` on, or leave the part to the host with `mix_compile_mode` and
`npu_scope.without_npu_compile_scope()`.

`Unique` that an optimizer adds for the gradient of an embedding is a risk only: the device has
it on its small processors. A dense gradient goes without, and trains the same with plain descent
and Adam, not with optimizers that leave rows alone which the batch does not name:

    pairs = [(tf.convert_to_tensor(g), v) for g, v in optimizer.compute_gradients(loss)]
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.facts import Operator
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import names_of, number_of, places_of
from trainferry.rehearse.tracing.rank import Rank
from trainferry.rehearse.tracing.shapes import DATA_DEPENDENT

_FIXED = "compute with a mask or padding, so that every shape is fixed"
_DENSE = "the gradient is sparse: `tf.convert_to_tensor` before `apply_gradients` makes it dense"


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        groups: dict[tuple[str, bool], list[Operator]] = {}
        for one in step.on_device:
            if one.kind in DATA_DEPENDENT:
                groups.setdefault((one.kind, _is_of_optimizer(one)), []).append(one)
        mild = step.takes_any_shape or step.leaves_to_host
        for (kind, of_optimizer), operators in groups.items():
            yield Finding(
                "data-dependent-shape",
                Severity.RISK if mild or of_optimizer else Severity.REFUSED,
                f"the shape of `{kind}` depends on values ({number_of(operators)})",
                _DENSE if of_optimizer else _FIXED,
                places_of(operators),
                names_of(operators),
            )


def _is_of_optimizer(operator: Operator) -> bool:
    return operator.kind.startswith("Unique") and "/update_" in operator.name
