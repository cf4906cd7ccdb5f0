"""Read the data with tf.data instead of queues.

Queues, their readers and the threads that fill them run on the host, but an NPU takes its input
only from `tf.data` and from placeholders. Each place is told with the `tf.data` text for its own
arguments; together they make one dataset, of which `get_next()` gives the tensors.

    -queue = tf.train.string_input_producer(files)
    -_, record = tf.TFRecordReader().read(queue)
    -images, labels = tf.train.shuffle_batch(parse(record), 32, 2000, 1000)
    +dataset = tf.data.TFRecordDataset(files).repeat().map(parse)
    +dataset = dataset.shuffle(1000).batch(32, drop_remainder=True)
    +images, labels = dataset.make_one_shot_iterator().get_next()

By hand: always, because the reader, the parser and the batch stand in different functions. If a
`tf.train.batch` stays for the moment, give it `num_threads=1`.
Not touched: queues of other libraries, unit tests, and programs that only make samples on the host.

Source: Ascend TF Adapter 1.x migration guide, restrictions of input data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._dataflow import constant
from trainferry.migrate.rules._host_sessions import is_in_test, only_makes_data
from trainferry.migrate.rules._queue_texts import (
    PRODUCERS,
    PROVIDERS,
    QUEUES,
    READERS,
    TO_BATCHES,
    text_for_batch,
    text_for_producer,
    text_for_provider,
    text_for_reader,
)

CONCERN = Concern.RUN

_ONE = (None, 1)
_SESSIONS = ("tf.Session", "tf.InteractiveSession", "tf.train.MonitoredSession")
_ONLY = "only `tf.data` and placeholders feed an NPU"


@on_call(*TO_BATCHES)
def queue_batches(call: Call, file: File) -> Iterator[Finding]:
    message = f"{_ONLY}: end the dataset with `{text_for_batch(call, file)}`"
    if call.name == "tf.train.batch" and constant(call.argument(2, "num_threads")) not in _ONE:
        message += "; until then, `num_threads=1`"
    yield from _told(call, file, message)


@on_call(*PRODUCERS)
def producers(call: Call, file: File) -> Iterator[Finding]:
    yield from _told(call, file, f"{_ONLY}: write `{text_for_producer(call, file)}`")


@on_call(*READERS)
def readers(call: Call, file: File) -> Iterator[Finding]:
    yield from _told(call, file, f"{_ONLY}: write `{text_for_reader(call, file)}`")


@on_call(*PROVIDERS)
def providers(call: Call, file: File) -> Iterator[Finding]:
    yield from _told(call, file, f"{_ONLY}: write `{text_for_provider(call, file)}`")


@on_call(*QUEUES)
def queues(call: Call, file: File) -> Iterator[Finding]:
    message = (
        f"{_ONLY}: what is put into this queue can come from "
        "`tf.data.Dataset.from_generator(..., output_types, output_shapes)`"
    )
    if not _is_of_replicas(call, file):
        yield from _told(call, file, message)


@on_call("tf.train.start_queue_runners", "tf.train.Supervisor.start_queue_runners")
def runners(call: Call, file: File) -> Iterator[Finding]:
    message = "nothing is left to start once the input is `tf.data`: take it away with its threads"
    yield from _told(call, file, message, Concern.TIDY)


def _told(
    call: Call, file: File, message: str, concern: Concern | None = None
) -> Iterator[Finding]:
    makes_samples = any(file.calls_of(*_SESSIONS)) and only_makes_data(file)
    if not is_in_test(file, call.node) and not makes_samples:
        yield Finding(call, Outcome.BY_HAND, message, concern=concern)


def _is_of_replicas(call: Call, file: File) -> bool:
    """Whether the queue keeps processes in step and carries no data."""
    shared = call.keyword("shared_name")
    name = "" if shared is None else file.text(shared.value)
    statement = file.statement(call.node)
    is_named = isinstance(statement, ast.Assign) and "token" in file.text(statement.targets[0])
    return is_named or any(word in name for word in ("sync", "done", "token"))
