"""A monitored session that runs until it is told to stop."""

import tensorflow as tf

weights = tf.get_variable("weights", [4], initializer=tf.ones_initializer())
step = tf.train.get_or_create_global_step()
loss = tf.reduce_sum(tf.square(weights))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
with tf.train.MonitoredTrainingSession() as session:
    while not session.should_stop():
        value = session.run([train, step])[1]
print("stopped after", value)
