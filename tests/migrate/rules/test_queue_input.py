"""Queue input is told with the tf.data text for its own arguments."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, findings, migrate, outcomes
from trainferry.migrate.rule import Concern, Outcome

RULE = "queue_input"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("tf.train.batch([image, label], 32)", "`.batch(32, drop_remainder=True)`"),
        (
            "tf.train.shuffle_batch([image], FLAGS.size, 2000, FLAGS.kept)",
            "`.shuffle(FLAGS.kept).batch(FLAGS.size, drop_remainder=True)`",
        ),
        (
            "tf.train.shuffle_batch_join(\n  lists, batch_size=8, capacity=9, min_after_dequeue=5)",
            "`.shuffle(5).batch(8, drop_remainder=True)`",
        ),
        (
            "tf.train.batch([x], 8, dynamic_pad=True)",
            "`.padded_batch(8, padded_shapes, drop_remainder=True)`",
        ),
        (
            "tf.train.maybe_batch([x], keep, 8, enqueue_many=True)",
            "`.apply(tf.data.experimental.unbatch()).batch(8, drop_remainder=True)`",
        ),
        (
            "tf.train.batch([x], 8, allow_smaller_final_batch=True)",
            "`.repeat().batch(8, drop_remainder=True)`",
        ),
        (
            "tf.train.string_input_producer(files, shuffle=False, num_epochs=1)",
            "`tf.data.Dataset.from_tensor_slices(files)`",
        ),
        (
            "tf.train.slice_input_producer([images, labels], num_epochs=n)",
            "`tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(number_of_samples)"
            ".repeat(n)`",
        ),
        (
            "tf.train.range_input_producer(limit)",
            "`tf.data.Dataset.range(limit).shuffle(limit).repeat()`",
        ),
        ("tf.TFRecordReader()", "`tf.data.TFRecordDataset(files)`"),
        ("tf.TextLineReader(skip_header_lines=1)", "`tf.data.TextLineDataset(files).skip(1)`"),
        (
            "tf.FixedLengthRecordReader(record_bytes=n)",
            "`tf.data.FixedLengthRecordDataset(files, n)`",
        ),
        (
            "tf.contrib.slim.parallel_reader.parallel_read(sources, tf.TFRecordReader, None, 8)",
            "`tf.data.Dataset.list_files(sources)"
            ".interleave(tf.data.TFRecordDataset, cycle_length=8)`",
        ),
        ("tf.contrib.slim.prefetch_queue.prefetch_queue(x, capacity=4)", "`.prefetch(4)`"),
        (
            "tf.estimator.inputs.numpy_input_fn(x, y, 64, num_epochs=None, shuffle=True)",
            "`lambda: tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000).repeat()"
            ".batch(64, drop_remainder=True)`",
        ),
        ("tf.FIFOQueue(10, tf.float32)", "`tf.data.Dataset.from_generator("),
    ],
)
def test_each_place_gets_its_text(call: str, text: str) -> None:
    told = check_unchanged(f"import tensorflow as tf\nx = {call}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert text in told[0].message


def test_a_reader_gets_the_files_of_its_producer() -> None:
    told = check_unchanged(
        """\
        import tensorflow.compat.v1 as tf
        def read(paths):
            queue = tf.train.string_input_producer(paths)
            return tf.TFRecordReader().read(queue)
        """,
        RULE,
    )
    assert "`tf.data.TFRecordDataset(paths)`" in told[1].message


@pytest.mark.parametrize(
    "imported",
    [
        "slim = tf.contrib.slim\nprovider = slim.dataset_data_provider",
        "from tensorflow.contrib.slim.python.slim.data import dataset_data_provider as provider",
        "import tf_slim\nprovider = tf_slim.dataset_data_provider",
    ],
)
def test_providers_of_slim_are_known_by_all_names(imported: str) -> None:
    text = (
        f"import tensorflow as tf\n{imported}\n"
        "data = provider.DatasetDataProvider(dataset, num_readers=2, shuffle=False)\n"
    )
    told = check_unchanged(text, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "list_files(dataset.data_sources, shuffle=False)" in told[0].message
    assert ".map(lambda record: tuple(dataset.decoder.decode(record)))" in told[0].message


def test_threads_are_one_while_a_queue_stays() -> None:
    told = check_unchanged(
        "from tensorflow import train\nx = train.batch([y], 8, num_threads=4)\n", RULE
    )
    assert "`num_threads=1`" in told[0].message


def test_what_starts_queues_only_has_to_be_tidied_away() -> None:
    text = "import tensorflow as tf\ntf.train.start_queue_runners(sess=sess)\n"
    (told,) = findings(migrate({"program.py": text}, RULE))
    assert told.finding.concern is Concern.TIDY


@pytest.mark.parametrize(
    "text",
    [
        "import queue\nimport tensorflow as tf\nqueue.Queue(3)\n",
        "import tensorflow as tf\nreader = tf.train.NewCheckpointReader(path)\n",
        "import tensorflow as tf\nloader.batch([image], 32)\nFIFOQueue(3)\n",
        "import tensorflow as tf\nq = tf.FIFOQueue(1, tf.int32, shared_name='done_queue0')\n",
    ],
)
def test_other_queues_are_not_ours(text: str) -> None:
    assert check_unchanged(text, RULE) == []


def test_unit_tests_and_programs_that_make_samples_are_not_told() -> None:
    test = "import tensorflow as tf\nclass NetTest(tf.test.TestCase):\n    def test(self):\n"
    assert check_unchanged(f"{test}        tf.train.batch([x], 2)\n", RULE) == []
    samples = (
        "import tensorflow as tf\nq = tf.train.string_input_producer(names)\n"
        "image = tf.image.decode_png(tf.WholeFileReader().read(q)[1])\n"
        "with tf.Session() as sess:\n    tf.train.start_queue_runners(sess)\n"
    )
    assert check_unchanged(samples, RULE) == []
