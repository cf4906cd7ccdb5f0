"""Recurrent layers as the device computes them: gates, their order, and what comes out."""

import tensorflow as tf
from tensorflow.python.ops import gen_rnn_ops, rnn_grad  # noqa: F401  (registers the gradient)


def lstm(x, h, c, weight, bias, forget_bias):
    """All steps of an LSTM, gates in the order i, j, f, o: y, h, c, i, j, f, o, tanh of c."""
    hidden = h.shape.as_list()[-1]
    peephole = tf.zeros([hidden], x.dtype)
    i, cell, f, o, j, tanh_cell, y = gen_rnn_ops.block_lstm(
        seq_len_max=tf.constant(x.shape.as_list()[0], tf.int64),
        x=x,
        cs_prev=c,
        h_prev=h,
        w=weight,
        wci=peephole,
        wcf=peephole,
        wco=peephole,
        b=bias,
        forget_bias=forget_bias,
        cell_clip=-1.0,
        use_peephole=False,
    )
    return y, y, cell, i, j, f, o, tanh_cell


def lstm_step(x, h, c, weight, bias, forget_bias):
    """One step, written out: c, h, i, j, f, o, tanh of c."""
    gates = tf.matmul(tf.concat([x, h], axis=1), weight) + bias
    i, j, f, o = tf.split(gates, 4, axis=1)
    i, j, f, o = tf.sigmoid(i), tf.tanh(j), tf.sigmoid(f + forget_bias), tf.sigmoid(o)
    cell = c * f + i * j
    tanh_cell = tf.tanh(cell)
    return cell, tanh_cell * o, i, j, f, o, tanh_cell


def gru(x, h, weights, order, reset_after, attention=None):
    """All steps of a GRU: y, h, update, reset, new, hidden_new, and the update with attention.

    `order` names the gates in the weights: update z, reset r, candidate h.
    """
    weight_x, weight_h, bias_x, bias_h = weights
    inputs = tf.tensordot(x, weight_x, [[2], [0]]) + bias_x
    rows = []
    for step, from_input in enumerate(tf.unstack(inputs, axis=0)):
        parts_x = dict(zip(order, tf.split(from_input, 3, axis=1)))
        parts_h = dict(zip(order, tf.split(tf.matmul(h, weight_h) + bias_h, 3, axis=1)))
        update = tf.sigmoid(parts_x["z"] + parts_h["z"])
        reset = tf.sigmoid(parts_x["r"] + parts_h["r"])
        hidden_new = parts_h["h"]
        if reset_after:
            new = tf.tanh(parts_x["h"] + reset * hidden_new)
        else:
            column = order.index("h")
            width = h.shape.as_list()[1]
            only = slice(column * width, (column + 1) * width)
            hidden_new = tf.matmul(reset * h, weight_h[:, only]) + bias_h[only]
            new = tf.tanh(parts_x["h"] + hidden_new)
        kept = update if attention is None else (1 - attention[step]) * update
        h = (1 - kept) * new + kept * h
        rows.append((h, h, update, kept, reset, new, hidden_new))
    return [tf.stack(column, axis=0) for column in zip(*rows)]
