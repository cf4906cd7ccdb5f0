"""An input leaves its batch open.

A graph is compiled for the device before it runs, and for fixed shapes. An input of unknown
batch makes the device compile again for each batch size it meets, which takes minutes in large
networks, or run in a slower mode. Here every batch had one size, so this is a risk: the last
batch of an epoch, or an evaluation, may have another.

Say the size: `tf.placeholder(tf.float32, [32, 224, 224, 3])`, `Input(..., batch_size=32)`, or
`dataset.batch(32, drop_remainder=True)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.facts import Operator, Shape, operator_of
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.batches import batches_that_keep_the_rest
from trainferry.rehearse.tracing.places import places_of
from trainferry.rehearse.tracing.rank import PLACEHOLDERS, Rank, TrainStep
from trainferry.rehearse.tracing.shapes import open_inputs, shape_text


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        if step.takes_any_shape:
            continue
        inputs = open_inputs(step)
        for one in inputs:
            if _is_told_elsewhere(step, one) or _follows(one, inputs):
                continue
            was = [
                shapes[0] for name, shapes in step.shapes.items() if operator_of(name) == one.name
            ]
            yield Finding(
                "open-batch",
                Severity.RISK,
                f"`{one.name}` leaves {_opened(one)}"
                + (f"; here it was {', '.join(map(shape_text, was[:3]))}" if was else ""),
                _hint(one, was),
                places_of([one]),
                (one.name,),
            )


def _opened(operator: Operator) -> str:
    shapes = [output.shape for output in operator.outputs[:3]]
    if shapes == [None]:
        return "its shape open"
    return f"a dimension open: {', '.join(map(shape_text, shapes))}"


def _hint(operator: Operator, was: list[Shape]) -> str:
    if operator.kind in PLACEHOLDERS and len(was) == 1:
        return f"give the placeholder its full shape, `{shape_text(was[0])}`"
    return "give its full shape; for datasets, `batch(..., drop_remainder=True)`"


def _is_told_elsewhere(step: TrainStep, operator: Operator) -> bool:
    """Whether shapes that changed, or a `batch` that keeps the rest, were found for it."""
    changes = any(
        len(shapes) > 1 and operator_of(name) == operator.name
        for name, shapes in step.shapes.items()
    )
    return changes or bool(batches_that_keep_the_rest(step.graph, operator))


def _follows(operator: Operator, inputs: list[Operator]) -> bool:
    """Keras leaves the shapes of targets and weights open; they have the batch of the inputs."""
    return _is_of_keras(operator) and all(map(_is_of_keras, inputs))


def _is_of_keras(operator: Operator) -> bool:
    last = operator.name.rpartition("/")[2].rstrip("_0123456789")
    return last.endswith(("_target", "_sample_weights"))
