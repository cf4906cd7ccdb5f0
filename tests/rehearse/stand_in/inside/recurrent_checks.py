"""Recurrent layers against plain NumPy."""

import numpy as np
import tensorflow as tf

from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicAUGRU, DynamicGRUV2, DynamicRNN
from trainferry_stand_in.errors import NotOnThisMachine, RefusedValue


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _raises(error, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except error as caught:
        return str(caught)
    raise AssertionError("nothing was raised")


def _run(outputs, layer, feeds=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run([outputs, layer.trainable_weights])


def gates_of_dynamic_rnn_are_i_j_f_o():
    x = np.random.RandomState(1).randn(5, 3, 4).astype(np.float32)
    layer = DynamicRNN(2, tf.float32, forget_bias=1.0)
    outputs, (w, b) = _run(layer(tf.constant(x)), layer)
    h, c = np.zeros([3, 2]), np.zeros([3, 2])
    rows = []
    for step in x:
        i, j, f, o = np.split(np.concatenate([step, h], 1).dot(w) + b, 4, 1)
        i, j, f, o = _sigmoid(i), np.tanh(j), _sigmoid(f + 1.0), _sigmoid(o)
        c = c * f + i * j
        h = np.tanh(c) * o
        rows.append([h, h, c, i, j, f, o, np.tanh(c)])
    for index, output in enumerate(outputs):
        np.testing.assert_allclose(output, [row[index] for row in rows], atol=1e-5)


def dynamic_rnn_equals_the_cell_of_tensorflow_with_forget_bias_one():
    x = tf.constant(np.random.RandomState(2).randn(4, 2, 3).astype(np.float32))
    layer = DynamicRNN(2, tf.float32, forget_bias=1.0)
    y = layer(x)[0]
    cell = tf.nn.rnn_cell.BasicLSTMCell(2)
    expected, _ = tf.nn.static_rnn(cell, tf.unstack(x), dtype=tf.float32)
    copy = [tf.assign(*pair) for pair in zip(cell.trainable_weights, layer.trainable_weights)]
    gradients = tf.gradients(y, layer.trainable_weights)
    wanted = tf.gradients(tf.stack(expected), cell.trainable_weights)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(copy)
        for one, other in sess.run([[y, tf.stack(expected)], *list(zip(gradients, wanted))]):
            np.testing.assert_allclose(one, other, atol=1e-5)


def forget_bias_of_dynamic_rnn_is_zero_by_default():
    assert DynamicRNN(2, tf.float32).forget_bias == 0.0


def weights_of_dynamic_rnn_are_named_as_on_the_device():
    layer = DynamicRNN(2, tf.float32)
    layer(tf.zeros([3, 2, 5]))
    names = sorted(v.op.name for v in tf.global_variables())
    assert names == [
        "dynamic_rnn/dynamicbase/seq_length",
        "dynamic_rnn/dynamicrnn/b",
        "dynamic_rnn/dynamicrnn/w",
    ], names


def weights_of_dynamic_rnn_are_the_same_in_every_run():
    drawn = []
    for seed in (1, 2):
        with tf.Graph().as_default():
            tf.set_random_seed(seed)
            layer = DynamicRNN(2, tf.float32)
            drawn.append(_run(layer(tf.zeros([3, 2, 5])), layer)[1][0])
    with tf.Graph().as_default():
        layer = DynamicRNN(2, tf.float32)
        drawn.append(_run(layer(tf.zeros([3, 2, 5])), layer)[1][0])
        layer = DynamicRNN(2, tf.float32)
        drawn.append(_run(layer(tf.zeros([3, 2, 5])), layer)[1][0])
    np.testing.assert_array_equal(drawn[2], drawn[3])


def dynamic_rnn_takes_first_states_with_and_without_leading_dimension():
    x = tf.zeros([3, 2, 5])
    layer = DynamicRNN(2, tf.float32)
    plain = layer(x, init_h=tf.ones([2, 2]), init_c=tf.ones([2, 2]))[0]
    leading = layer(x, init_h=tf.ones([1, 2, 2]), init_c=tf.ones([1, 2, 2]))[0]
    (one, other), _ = _run([plain, leading], layer)
    np.testing.assert_array_equal(one, other)
    assert np.abs(one).max() > 0


def dynamic_rnn_refuses_an_open_batch():
    x = tf.placeholder(tf.float32, [3, None, 5])
    message = _raises(RefusedValue, DynamicRNN(2, tf.float32), x)
    assert "batch" in message


def dynamic_rnn_refuses_options_the_device_does_not_have():
    for option in (
        {"use_peephole": True},
        {"cell_depth": 2},
        {"keep_prob": 0.5},
        {"time_major": False},
        {"activation": "relu"},
        {"cell_type": "GRU"},
    ):
        _raises(RefusedValue, DynamicRNN, 2, tf.float32, **option)
    _raises(NotOnThisMachine, DynamicRNN, 2, tf.float32, direction="BIDIRECTIONAL")


def lengths_that_differ_are_not_rehearsed_in_silence():
    layer = DynamicRNN(2, tf.float32)
    layer(tf.zeros([3, 2, 5]), seq_length=tf.constant([3, 3]))
    _raises(NotOnThisMachine, layer, tf.zeros([3, 2, 5]), seq_length=tf.constant([3, 2]))


def _gru(x, h, wx, wh, bx, bh, order, reset_after, attention=None):
    rows = []
    for step, now in enumerate(x):
        gx = dict(zip(order, np.split(now.dot(wx) + bx, 3, 1)))
        gh = dict(zip(order, np.split(h.dot(wh) + bh, 3, 1)))
        z, r = _sigmoid(gx["z"] + gh["z"]), _sigmoid(gx["r"] + gh["r"])
        hidden = gh["h"]
        if reset_after:
            n = np.tanh(gx["h"] + r * hidden)
        else:
            at = order.index("h") * h.shape[1]
            only = slice(at, at + h.shape[1])
            hidden = (r * h).dot(wh[:, only]) + bh[only]
            n = np.tanh(gx["h"] + hidden)
        kept = z if attention is None else (1 - attention[step]) * z
        h = (1 - kept) * n + kept * h
        rows.append((h, z, kept, r, n, hidden))
    return [np.stack(column) for column in zip(*rows)]


def gates_of_dynamic_gru_follow_gate_order_and_reset_after():
    x = np.random.RandomState(3).randn(4, 2, 3).astype(np.float32)
    for order in ("zrh", "rzh"):
        for reset_after in (True, False):
            with tf.Graph().as_default():
                layer = DynamicGRUV2(2, tf.float32, gate_order=order, reset_after=reset_after)
                outputs, weights = _run(layer(tf.constant(x)), layer)
                h, z, _, r, n, hidden = _gru(
                    x, np.zeros([2, 2]), *weights, order=order, reset_after=reset_after
                )
                for output, wanted in zip(outputs, (h, h, z, r, n, hidden)):
                    np.testing.assert_allclose(output, wanted, atol=1e-5)


def attention_of_dynamic_augru_weakens_the_update_gate():
    x = np.random.RandomState(3).randn(4, 2, 3).astype(np.float32)
    attention = np.random.RandomState(4).rand(4, 2, 1).astype(np.float32)
    layer = DynamicAUGRU(2, tf.float32)
    outputs, weights = _run(layer(tf.constant(x), tf.constant(attention)), layer)
    wanted = _gru(x, np.zeros([2, 2]), *weights, order="zrh", reset_after=True, attention=attention)
    h, z, kept, r, n, hidden = wanted
    for output, value in zip(outputs, (h, h, z, kept, r, n, hidden)):
        np.testing.assert_allclose(output, value, atol=1e-5)
