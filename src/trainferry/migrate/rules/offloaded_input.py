"""Feed a loop that runs on the device.

With several steps per loop the device asks for its batches itself. Then the data has to come
from an iterator that is initialised in its own run, must not end inside a loop, and must be
there in time. These notes come only with loop offload (`--also loop_offload`).

    -iterator = dataset.make_one_shot_iterator()
    +iterator = dataset.make_initializable_iterator()
    +sess.run(iterator.initializer)

By hand: always; where the initialiser runs and how many steps make an epoch is yours to say.
Not touched: evaluation and prediction, which run step by step.

Source: Ascend TF Adapter 1.x migration guide, offload of training iterations; frequent problems,
"GetNext timeout".
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._dataflow import constant, text_in_line
from trainferry.migrate.rules._feeding import feeds_training

CONCERN = Concern.SPEED

_SLOW_TO_FILL = 1_000_000


@on_call("tf.data.Dataset.make_one_shot_iterator", "tf.data.make_one_shot_iterator")
def one_shot_iterator(call: Call, file: File) -> Iterator[Finding]:
    if not _is_asked_for(call, file):
        return
    message = (
        "a loop on the device needs `make_initializable_iterator()`, and "
        "`sess.run(iterator.initializer)` before the first step"
    )
    yield Finding(call, Outcome.BY_HAND, message)


@on_call("tf.data.Dataset.repeat")
def repeat_for_ever(call: Call, file: File) -> Iterator[Finding]:
    count = call.argument(0, "count")
    if count is None or constant(count) in (None, -1) or not _is_asked_for(call, file):
        return
    message = (
        "data that ends inside a loop on the device is an error: write `repeat()` and count the "
        f"steps of `{text_in_line(file, count)}` epochs with `max_steps`"
    )
    yield Finding(call, Outcome.BY_HAND, message, concern=Concern.RUN)


@on_call("tf.data.Dataset.shuffle")
def large_shuffle(call: Call, file: File) -> Iterator[Finding]:
    size = constant(call.argument(0, "buffer_size"))
    is_large = isinstance(size, int | float) and size >= _SLOW_TO_FILL
    if not is_large or not _is_asked_for(call, file):
        return
    message = (
        f"filling {size:,} places may take longer than the device waits for its first batch: "
        "make the buffer smaller, or raise `op_execute_timeout`"
    )
    yield Finding(call, Outcome.BY_HAND, message, concern=Concern.RUN)


def _is_asked_for(call: Call, file: File) -> bool:
    return "loop_offload" in file.options.also and feeds_training(file, call.node)
