"""A crop to the size of another tensor, as in U-Net: only shapes decide where it starts."""

import numpy as np
import tensorflow as tf

images = tf.placeholder(tf.float32, [None, None, None, 2], name="images")
small = tf.layers.conv2d(images, 2, 3, name="small")
size, inner = tf.shape(images), tf.shape(small)
_, height, width, _ = tf.unstack(inner)
start = [0, (size[1] - height) // 2, (size[2] - width) // 2, 0]
crop = tf.slice(tf.layers.conv2d(images, 2, 1), start, [-1, inner[1], inner[2], -1])
joined = tf.nn.conv2d(
    tf.concat([crop, small], 3), tf.get_variable("w", [3, 3, 4, 1]), [1] * 4, "VALID"
)
loss = tf.reduce_mean(tf.square(joined))
count = tf.cast(tf.reduce_sum(images), tf.int32)
loss += 0.0 * tf.reduce_sum(tf.cast(tf.range(count // 2, name="counted"), tf.float32))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(train_op, {images: np.ones([4, 20, 18, 2])})
