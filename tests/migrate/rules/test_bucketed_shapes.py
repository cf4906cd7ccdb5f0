"""Batches whose shape changes from step to step are told."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "bucketed_shapes"

PROGRAM = """\
import tensorflow as tf
shapes = {{"text": [20], "label": []}}
dataset = tf.data.TFRecordDataset(files)
dataset = dataset.{made}
"""


@pytest.mark.parametrize(
    "made",
    [
        "padded_batch(32, [None])",
        "padded_batch(32, padded_shapes=([-1], []))",
        "padded_batch(32, dataset.output_shapes)",
        "padded_batch(32, (tf.TensorShape([None, 3]), tf.TensorShape([])))",
        "apply(tf.contrib.data.padded_batch_and_drop_remainder(32, ([None], [4])))",
        "apply(tf.data.experimental.group_by_window(key, reduce, 32))",
        "apply(tf.contrib.data.dense_to_sparse_batch(32, [10]))",
        "apply(tf.data.experimental.bucket_by_sequence_length(length, [10, 20], [8, 4, 2]))",
    ],
)
def test_changing_shapes_are_told(made: str) -> None:
    told = check_unchanged(PROGRAM.format(made=made), RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_buckets_that_are_padded_to_their_length_only_have_to_be_few() -> None:
    made = (
        "apply(tf.data.experimental.bucket_by_sequence_length("
        "length, [10, 20], [8, 4, 2], pad_to_bucket_boundary=True))"
    )
    told = check_unchanged(PROGRAM.format(made=made), RULE)
    assert "each bucket of `[10, 20]`" in told[0].message


def test_an_assigned_module_is_followed() -> None:
    told = check_unchanged(
        """\
        from tensorflow.compat.v1.data import experimental as more
        dataset = data.apply(more.dense_to_sparse_batch(32, [10]))
        """,
        RULE,
    )
    assert "`.padded_batch(32, [10], drop_remainder=True)`" in told[0].message


@pytest.mark.parametrize(
    "made",
    [
        "padded_batch(32, ([20], []))",
        "padded_batch(32, shapes)",
        "padded_batch(32, {'text': [flags.longest], 'label': tf.TensorShape([])})",
        "batch(32)",
    ],
)
def test_fixed_shapes_are_fine(made: str) -> None:
    assert check_unchanged(PROGRAM.format(made=made), RULE) == []


def test_padding_of_another_library_is_not_ours() -> None:
    assert check_unchanged("import tensorflow as tf\nloader.padded_batch(3, [None])\n", RULE) == []
