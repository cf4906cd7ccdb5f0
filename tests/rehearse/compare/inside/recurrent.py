"""Reads sequences with an LSTM: TensorFlow's own, or as migrated the layer of the NPU."""

import sys

import numpy as np
import tensorflow as tf

STEPS, BATCH, FEATURES, HIDDEN = 5, 4, 3, 6


def read(sequences):
    if sys.argv[1] == "original":
        cell = tf.nn.rnn_cell.BasicLSTMCell(HIDDEN)
        outputs, _ = tf.nn.dynamic_rnn(cell, sequences, dtype=tf.float32, time_major=True)
        return outputs
    from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicRNN

    forget_bias = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    return DynamicRNN(HIDDEN, tf.float32, forget_bias=forget_bias)(sequences)[0]


def main():
    sequences = tf.placeholder(tf.float32, [STEPS, BATCH, FEATURES])
    outputs = tf.layers.dense(tf.nn.dropout(read(sequences), rate=0.3), 1, use_bias=False)
    loss = tf.reduce_mean(tf.square(outputs - 1.0))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        while True:
            session.run(train, {sequences: np.random.normal(size=[STEPS, BATCH, FEATURES])})


main()
