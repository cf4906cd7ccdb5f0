"""Training is fed by queues.

`tf.train.batch`, `tf.train.shuffle_batch`, `string_input_producer`, readers and slim's data
providers feed a graph from queues that threads of the host fill. The device takes its input
from datasets and placeholders only.

Read with `tf.data`: `TFRecordDataset(files).map(parse).shuffle(n).batch(size,
drop_remainder=True)`, and an initializable iterator.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import kinds_of, names_of, places_of
from trainferry.rehearse.tracing.rank import Rank
from trainferry.rehearse.tracing.shapes import QUEUES

_READERS = ("ReaderRead", "ReaderReadV2", "ReaderReadUpTo", "ReaderReadUpToV2")


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        found = [one for one in step.graph.operators if one.kind in (*QUEUES, *_READERS)]
        if found:
            yield Finding(
                "queue-input",
                Severity.REFUSED,
                f"a train step takes its input from a queue: {kinds_of(found)}",
                "read with `tf.data`",
                places_of(found),
                names_of(found),
            )
