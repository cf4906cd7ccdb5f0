"""Layers for GPUs only become their plain likes."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "cudnn_rnn"


def test_the_plain_layer_does_the_same_mathematics() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf
        a = tf.keras.layers.CuDNNLSTM(128, return_sequences=True)(x)
        b = tf.compat.v1.keras.layers.CuDNNGRU(units=64)(a)
        """,
        """\
        import tensorflow as tf
        a = tf.keras.layers.LSTM(128, return_sequences=True, recurrent_activation='sigmoid')(x)
        b = tf.compat.v1.keras.layers.GRU(units=64, recurrent_activation='sigmoid', reset_after=True)(a)
        """,  # noqa: E501
        RULE,
    )
    assert outcomes(told) == [Outcome.CHECK, Outcome.CHECK]


def test_a_layer_imported_by_name_is_imported_by_its_new_name() -> None:
    check_migrated(
        """\
        from tensorflow.keras.layers import CuDNNLSTM as Fast, Dense
        net = Fast(128)(net)
        """,
        """\
        from tensorflow.keras.layers import CuDNNLSTM as Fast, Dense
        from tensorflow.keras.layers import LSTM
        net = LSTM(128, recurrent_activation='sigmoid')(net)
        """,
        RULE,
    )


def test_a_layer_of_another_home_with_the_same_name_is_not_taken() -> None:
    told = check_unchanged(
        "from mylib import LSTM\nfrom tensorflow.keras.layers import CuDNNLSTM\nCuDNNLSTM(128)\n",
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "tf.keras.layers.CuDNNLSTM(128, 'zeros')",
        "tf.keras.layers.CuDNNLSTM(**options)",
        "layer = tf.keras.layers.CuDNNGRU if fast else tf.keras.layers.GRU",
        "tf.contrib.cudnn_rnn.CudnnLSTM(2, 256, direction='bidirectional')",
        "tf.contrib.cudnn_rnn.CudnnLSTMSaveable(p)",
    ],
)
def test_what_is_not_plain_is_left_to_the_user(text: str) -> None:
    told = check_unchanged(f"import tensorflow as tf\n{text}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_cells_that_only_fit_cudnn_and_other_libraries_are_left_alone() -> None:
    text = "import tensorflow as tf\ntf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(256)\n"
    assert check_unchanged(text, RULE) == []
    assert check_unchanged("from mylib import CuDNNLSTM\nCuDNNLSTM(128)\n", RULE) == []
