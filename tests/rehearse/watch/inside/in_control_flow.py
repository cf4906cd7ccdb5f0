"""Newer control flow: the update is inside the branch of a condition, which is a function."""

import tensorflow as tf

tf.enable_control_flow_v2()
tf.enable_resource_variables()
flag = tf.placeholder(tf.bool, [], name="flag")
weights = tf.get_variable("weights", [2], initializer=tf.ones_initializer())
loss = tf.reduce_sum(tf.square(weights))
optimizer = tf.train.GradientDescentOptimizer(0.1)
pairs = optimizer.compute_gradients(loss)
done = tf.cond(
    flag, lambda: tf.group(optimizer.apply_gradients(pairs)), lambda: tf.group(tf.no_op())
)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(done, {flag: True})
