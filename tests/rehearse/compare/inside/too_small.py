"""Numbers that half precision cannot hold, in a network that 32 bits train well."""

import sys

import numpy as np
import tensorflow as tf


def main():
    points = tf.placeholder(tf.float32, [8, 4])
    net = tf.layers.dense(points, 8, activation=tf.nn.sigmoid)
    net = net / (tf.reduce_sum(net, axis=1, keepdims=True) + 1e-8)  # line: epsilon
    large = tf.matmul(net * 300.0, tf.ones([8, 8]) * 300.0)  # line: overflow
    small = tf.layers.dense(tf.tanh(large * 1e-5), 4) * 1e-8  # line: small
    loss = tf.reduce_sum(small) if "scaled" not in sys.argv else tf.reduce_sum(small) * 1e6
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        while True:
            session.run(train, {points: np.random.normal(size=[8, 4])})


main()
