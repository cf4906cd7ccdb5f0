"""The dataset keeps its last, smaller batch."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

data = tf.data.Dataset.from_tensor_slices(
    (np.random.rand(18, 8).astype("float32"), np.arange(18) % 3)
)
data = data.repeat(2).batch(4)  # fault: drop-remainder
iterator = data.make_initializable_iterator()
images, labels = iterator.get_next()
logits = tf.matmul(images, tf.get_variable("w", [8, 3]))
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)

train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(iterator.initializer)
    for _ in range(3):
        sess.run(train_op)
