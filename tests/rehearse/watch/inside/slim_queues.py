"""slim trains under a supervisor, with queues that threads fill."""

import sys

import tensorflow as tf
from tensorflow.contrib import slim

row = tf.random.uniform([8])
rows = tf.train.batch([row], batch_size=4)
output = slim.fully_connected(rows, 1)
loss = tf.losses.mean_squared_error(tf.zeros_like(output), output)
train = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(0.1))
last = slim.learning.train(train, sys.argv[1], number_of_steps=1000)
print("slim is done")
