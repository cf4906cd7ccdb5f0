"""A small network; the argument says what the migration changed."""

import sys

import numpy as np
import tensorflow as tf

CHANGE = sys.argv[1]


def main():
    points = tf.placeholder(tf.float32, [16, 2])
    words = tf.placeholder(tf.int32, [16])
    table = tf.get_variable("table", [10, 2])
    inputs = points + tf.nn.embedding_lookup(table, words)
    net = tf.layers.dense(inputs, 8, activation=tf.nn.relu if CHANGE == "layer" else tf.tanh)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(net, 1)))
    optimizer = tf.train.AdagradOptimizer(0.11 if CHANGE == "rate" else 0.1)
    pairs = optimizer.compute_gradients(loss)
    if CHANGE == "clipping":
        pairs = [(tf.clip_by_norm(gradient, 0.01), variable) for gradient, variable in pairs]
    train = optimizer.apply_gradients(pairs)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(4):
            values = np.random.normal(size=[16, 2])
            if CHANGE == "data" and step == 2:
                values[0] = 0
            session.run([train, loss], {points: values, words: np.arange(16) % 5})


main()
