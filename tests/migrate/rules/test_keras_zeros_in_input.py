"""Zeros in mapped functions are no variables."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "keras_zeros_in_input"


def test_a_mapped_function_and_its_helpers_make_tensors() -> None:
    told = check_migrated(
        """\
        import tensorflow.compat.v1 as tf
        K = tf.keras.backend
        def mask(size):
            return K.zeros((size,), "float32")
        def parse(record):
            return record, mask(10)
        data = tf.data.TFRecordDataset(files).map(parse, num_parallel_calls=4)
        state = K.zeros((3,))
        """,
        """\
        import tensorflow.compat.v1 as tf
        K = tf.keras.backend
        def mask(size):
            return tf.zeros((size,), "float32")
        def parse(record):
            return record, mask(10)
        data = tf.data.TFRecordDataset(files).map(parse, num_parallel_calls=4)
        state = K.zeros((3,))
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED]


def test_tensorflow_is_imported_where_it_is_not_yet() -> None:
    check_migrated(
        """\
        from tensorflow.keras import backend as K
        from tensorflow.data import TFRecordDataset
        data = TFRecordDataset(files).map(lambda record: (record, K.zeros((3,))))
        """,
        """\
        from tensorflow.keras import backend as K
        import tensorflow as tf
        from tensorflow.data import TFRecordDataset
        data = TFRecordDataset(files).map(lambda record: (record, tf.zeros((3,))))
        """,
        RULE,
    )


def test_hidden_arguments_are_left_to_the_user() -> None:
    told = check_unchanged(
        """\
        import tensorflow as tf
        data = tf.data.Dataset.range(3).map(lambda i: tf.keras.backend.zeros(*shape))
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND]


def test_zeros_of_the_model_are_not_ours() -> None:
    text = "from keras import backend as K\nstate = K.zeros((3,))\nrows = map(f, K.zeros((3,)))\n"
    assert check_unchanged(text, RULE) == []
