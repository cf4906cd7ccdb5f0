"""Batches of different shapes reach the train step.

The device compiles a graph for the shapes it sees first. A batch of another shape makes it
compile again, minutes in large networks, each time one comes that it has not seen yet; in a
loop on the device it ends the run.

Pad or crop to one shape, sort samples into few fixed shapes, or drop the last, smaller batch.
Where shapes must change, turn `compile_dynamic_mode` on.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.facts import Shape, operator_of
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import places_of
from trainferry.rehearse.tracing.rank import Rank
from trainferry.rehearse.tracing.shapes import shape_text

_SHOWN = 4


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        if step.takes_any_shape:
            continue
        by_name = {one.name: one for one in step.inputs}
        for tensor, shapes in step.shapes.items():
            operator = by_name.get(operator_of(tensor))
            if len(shapes) > 1 and operator is not None:
                yield Finding(
                    "changing-shapes",
                    Severity.REFUSED if step.per_loop > 1 else Severity.RISK,
                    f"`{tensor}` came in {len(shapes)} shapes: {_text(shapes)}",
                    "bring all batches to one shape, or turn `compile_dynamic_mode` on",
                    places_of([operator]),
                    (operator.name,),
                )


def _text(shapes: tuple[Shape, ...]) -> str:
    shown = ", ".join(shape_text(shape) for shape in shapes[:_SHOWN])
    return shown + (f" and {len(shapes) - _SHOWN} more" if len(shapes) > _SHOWN else "")
