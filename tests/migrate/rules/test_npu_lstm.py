"""A plain recurrent network is told the operator that does all its steps."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "npu_lstm"
TOP = "import tensorflow as tf\nfrom tensorflow.contrib import rnn\n"


def message(text: str) -> str:
    told = check_unchanged(TOP + text, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    return told[0].message


def test_the_text_has_units_type_and_forget_bias() -> None:
    text = message(
        "cell = tf.nn.rnn_cell.LSTMCell(num_units=hidden)\n"
        "y, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float16)\n"
    )
    assert "`DynamicRNN(hidden, tf.float16, forget_bias=1.0)`" in text
    text = message("tf.nn.dynamic_rnn(rnn.BasicLSTMCell(256, 0.5), x)\n")
    assert "`DynamicRNN(256, tf.float32, forget_bias=0.5)`" in text


def test_stacked_and_two_directions() -> None:
    text = message(
        "def net(x):\n"
        "    forward = [rnn.BasicLSTMCell(n, forget_bias=1.0) for n in [256] * 2]\n"
        "    back = [rnn.BasicLSTMCell(n, forget_bias=1.0) for n in [256] * 2]\n"
        "    return rnn.stack_bidirectional_dynamic_rnn(forward, back, x, dtype=tf.float32)\n"
    )
    assert "DynamicRNN(n, tf.float32, forget_bias=1.0)" in text
    assert "tf.reverse(x, [0])" in text


def test_layers_and_dropout_around_the_cell() -> None:
    text = message(
        "class Net:\n"
        "    def _cell(self):\n"
        "        return rnn.DropoutWrapper(rnn.LSTMCell(self.size), 0.5)\n"
        "    def run(self, x):\n"
        "        self.cell = rnn.MultiRNNCell([self._cell() for _ in range(2)])\n"
        "        return tf.nn.dynamic_rnn(self.cell, x)\n"
    )
    assert "DynamicRNN(self.size, tf.float32, forget_bias=1.0)" in text
    assert text.endswith("with dropout outside of it, one `DynamicRNN` per layer")


def test_gru_has_its_own_operator() -> None:
    assert "DynamicGRUV2(64, tf.float32, gate_order='rzh', reset_after=False)" in message(
        "tf.nn.bidirectional_dynamic_rnn(rnn.GRUCell(64), rnn.GRUCell(64), x)\n"
    )


@pytest.mark.parametrize(
    "cell",
    [
        "rnn.LSTMCell(64, use_peepholes=True)",
        "rnn.LSTMCell(64, num_proj=32)",
        "rnn.LSTMCell(64, activation=tf.nn.relu)",
        "rnn.LayerNormBasicLSTMCell(64)",
        "rnn.AttentionCellWrapper(rnn.LSTMCell(64), 8)",
        "MyCell(64)",
        "*cells",
    ],
)
def test_cells_that_the_operator_cannot_do_are_not_told(cell: str) -> None:
    assert check_unchanged(f"{TOP}tf.nn.dynamic_rnn({cell}, x)\n", RULE) == []


def test_another_library_is_not_ours() -> None:
    text = "from mylib import tf\ntf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(8), x)\n"
    assert check_unchanged(text, RULE) == []
