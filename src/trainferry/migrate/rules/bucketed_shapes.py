"""Give every batch the same shape.

The NPU compiles a graph for the shapes it sees. Batches that are padded to their own longest
sample, or gathered by length, differ from step to step, and each new shape is compiled anew: the
run is slow, or stops where an operator needs a known shape. Pad to one length (or a few), or let
the adapter treat sizes as changing with `compile_dynamic_mode`.

    -dataset = dataset.padded_batch(32, padded_shapes=([None], []))
    +dataset = dataset.padded_batch(32, padded_shapes=([128], []))

By hand: always, because only you know the longest sample that matters.
Not touched: `padded_batch` whose shapes are all written as numbers or names.

Source: Ascend TF Adapter 1.x migration guide, dynamic shapes; TF Adapter 1.15,
npu_bridge/estimator/npu/npu_config.py, `compile_dynamic_mode`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._dataflow import constant, is_fixed_shape, text_in_line

CONCERN = Concern.RUN

_OR_DYNAMIC = "or set `compile_dynamic_mode` to True in the session's NPU options"
_BUCKETS = (
    "tf.data.experimental.bucket_by_sequence_length",
    "tf.contrib.data.bucket_by_sequence_length",
)
_WINDOWS = ("tf.data.experimental.group_by_window", "tf.contrib.data.group_by_window")
_SPARSE = ("tf.data.experimental.dense_to_sparse_batch", "tf.contrib.data.dense_to_sparse_batch")


@on_call("tf.data.Dataset.padded_batch", "tf.contrib.data.padded_batch_and_drop_remainder")
def padded_batches(call: Call, file: File) -> Iterator[Finding]:
    shapes = call.argument(1, "padded_shapes")
    if shapes is None or is_fixed_shape(file, shapes):
        return
    message = (
        f"batches are as long as their longest sample where `{text_in_line(file, shapes)}` has a "
        f"None: write the longest length into `padded_shapes` and cut longer samples, {_OR_DYNAMIC}"
    )
    yield Finding(call, Outcome.BY_HAND, message)


@on_call(*_BUCKETS)
def buckets(call: Call, file: File) -> Iterator[Finding]:
    boundaries = call.argument(1, "bucket_boundaries")
    if boundaries is not None and constant(call.argument(5, "pad_to_bucket_boundary")) is True:
        message = (
            f"each bucket of `{text_in_line(file, boundaries)}` is a shape that the NPU compiles "
            f"for: keep them few, with `drop_remainder=True`, {_OR_DYNAMIC}"
        )
    else:
        message = (
            "batches of a bucket differ in length: write `pad_to_bucket_boundary=True, "
            f"drop_remainder=True` with few buckets, {_OR_DYNAMIC}"
        )
    yield Finding(call, Outcome.BY_HAND, message)


@on_call(*_WINDOWS)
def windows(call: Call, file: File) -> Iterator[Finding]:
    reduce = call.argument(1, "reduce_func")
    made_by = "the reduce function" if reduce is None else f"`{text_in_line(file, reduce)}`"
    message = (
        "batches of a window may differ in size and length: let "
        f"{made_by} make them with one size and fixed `padded_shapes`, {_OR_DYNAMIC}"
    )
    yield Finding(call, Outcome.BY_HAND, message)


@on_call(*_SPARSE)
def sparse_batches(call: Call, file: File) -> Iterator[Finding]:
    size = call.argument(0, "batch_size")
    shape = call.argument(1, "row_shape")
    texts = [text_in_line(file, one) for one in (size, shape) if one is not None]
    message = (
        "sparse batches have as many values as their samples: write "
        f"`.padded_batch({', '.join(texts)}, drop_remainder=True)` for dense ones"
    )
    yield Finding(call, Outcome.BY_HAND, message)
