"""Variables and iterator are initialised in one run."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

data = tf.data.Dataset.from_tensor_slices(
    (np.random.rand(24, 8).astype("float32"), np.arange(24) % 3)
)
iterator = data.repeat().batch(4, drop_remainder=True).make_initializable_iterator()
images, labels = iterator.get_next()
logits = tf.matmul(images, tf.get_variable("w", [8, 3]))
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

initializers = [tf.global_variables_initializer(), iterator.initializer]

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(initializers)  # fault: initialised-with-iterator
    for _ in range(3):
        sess.run(train_op)
