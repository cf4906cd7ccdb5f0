"""A dimension stays unknown although the shapes of all inputs are known.

The rehearsal writes the shapes of the batches it saw into the graph and infers all shapes
again. What is unknown then does not come from an open batch: a number was computed that decides
a shape, such as the length of the longest sequence, and the device cannot compile for it.
Numbers that nothing but the shapes of the inputs decides are worked out, as a compiler does. Only
the operator at which the dimension is lost is told, not all that follow it. Loops and queues
hide shapes too; they are checks of their own.

Make the number a constant of Python, or give the result its shape with `tf.reshape(x, [32, -1,
8])` where only one dimension is left to find, or turn `compile_dynamic_mode` on.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import kinds_of, names_of, places_of
from trainferry.rehearse.tracing.rank import ITERATORS, PLACEHOLDERS, Rank
from trainferry.rehearse.tracing.shapes import DATA_DEPENDENT, lost_dimensions

# Computed while the graph is compiled, from shapes that are known then; and operators that keep
# numbers for their gradient in an output that never has a shape.
_COMPILED = ("BroadcastGradientArgs", "BroadcastArgs", "FusedBatchNormV3", "FusedBatchNormGradV3")
# A choice between shapes is told by `conditional`.
_CHOICES = ("Merge", "RefMerge")
_OTHERS = frozenset({*DATA_DEPENDENT, *ITERATORS, *PLACEHOLDERS, *_COMPILED, *_CHOICES})


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        on_device = {one.name for one in step.on_device}
        roots = [
            one
            for one in lost_dimensions(step)
            if one.name in on_device and one.kind not in _OTHERS
        ]
        if roots:
            mild = step.takes_any_shape or step.leaves_to_host
            yield Finding(
                "open-dimension",
                Severity.RISK if mild else Severity.REFUSED,
                f"a dimension that no input decides is lost at {kinds_of(roots)}",
                "let shapes depend on constants of Python only",
                places_of(roots),
                names_of(roots),
            )
