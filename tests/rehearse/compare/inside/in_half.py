"""A layer whose loss and gradient are known in any precision: numbers that 16 bits hold exactly."""

import numpy as np
import tensorflow as tf


def main():
    points = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    weight = tf.get_variable("weight", initializer=np.float32([[1 + 2**-12, 0], [0, 1.0]]))
    outputs = tf.matmul(points, weight)
    loss = tf.reduce_sum(outputs)
    train = tf.train.GradientDescentOptimizer(2.0**-13).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run([train, loss])


main()
