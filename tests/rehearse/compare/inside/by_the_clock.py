"""slim trains from a queue, and writes summaries every half second; steps may be slow."""

import sys
import time

import tensorflow as tf
from tensorflow.contrib import slim


def slow_step(session, *args):
    time.sleep(float(sys.argv[1]))
    return slim.learning.train_step(session, *args)


row = tf.random.uniform([8])
rows = tf.train.shuffle_batch([row], batch_size=4, capacity=16, min_after_dequeue=8, num_threads=2)
tf.summary.histogram("rows", rows)
output = slim.fully_connected(rows, 1)
loss = tf.losses.mean_squared_error(tf.zeros_like(output), output)
train = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(0.1))
slim.learning.train(
    train, "log", train_step_fn=slow_step, number_of_steps=100, save_summaries_secs=0.5
)
