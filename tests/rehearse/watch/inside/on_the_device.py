"""A migrated script: starts the device, loops on it, ends it."""

import tensorflow as tf

from npu_bridge.npu_init import *

start, end = npu_ops.initialize_system(), npu_ops.shutdown_system()
with tf.Session() as first:
    first.run(start)
weights = tf.get_variable("weights", [4], initializer=tf.ones_initializer())
loss = tf.reduce_sum(tf.square(weights))
optimizer = NPUDistributedOptimizer(tf.train.GradientDescentOptimizer(0.1))
manager = FixedLossScaleManager(loss_scale=1024)
optimizer = NPULossScaleOptimizer(optimizer, manager)
train = optimizer.minimize(loss)
session = tf.Session()
session.run(tf.global_variables_initializer())
train = util.set_iteration_per_loop(session, tf.group(train), 3)
for _ in range(2):
    session.run(train)
session.run(end)
session.close()
