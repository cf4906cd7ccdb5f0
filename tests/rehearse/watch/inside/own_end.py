"""Ends by itself: fewer steps than the rehearsal allows; the last batch is smaller."""

import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2], name="x")
weights = tf.get_variable("weights", [2, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(x, weights)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
session = tf.Session()
session.run(tf.global_variables_initializer())
for size in (4, 4, 3):
    session.run(train, {x: np.ones([size, 2])})
tf.square(loss, name="late")
session.run(train, {x: np.ones([4, 2])})
session.run(loss, {x: np.ones([4, 2])})
