"""Forks, starts another Python that trains, and fails in the end."""

import os
import subprocess
import sys

import tensorflow as tf

weights = tf.get_variable("weights", [2])
loss = tf.reduce_sum(tf.square(weights))
train = tf.train.AdagradOptimizer(0.1).minimize(loss)
if "child" in sys.argv:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(train)
else:
    process = os.fork()
    if process == 0:
        os._exit(0)
    os.waitpid(process, 0)
    subprocess.run([sys.executable, __file__, "child"], check=True)
    raise RuntimeError("the parent fails")
