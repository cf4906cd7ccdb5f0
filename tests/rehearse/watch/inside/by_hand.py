"""An optimizer written by hand, weights that are clipped, and a loop that catches everything."""

import tensorflow as tf

weights = tf.get_variable("weights", [4], initializer=tf.ones_initializer())
loss = tf.reduce_sum(tf.square(weights))
gradient = tf.gradients(loss, weights)[0]
train = tf.assign(weights, weights - 0.1 * gradient)
clip = tf.assign(weights, tf.clip_by_value(weights, -1.0, 1.0))
average = tf.train.ExponentialMovingAverage(0.9).apply([weights])
session = tf.Session()
session.run(tf.global_variables_initializer())
step = session.make_callable(train)
caught = 0
while caught < 3:
    try:
        step()
        session.run([clip, average])
    except:  # noqa: E722
        caught += 1
session.close()
print("closed")
