"""Summaries are written in a step that loops on the device."""

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

summary = tf.summary.scalar("loss", loss)  # fault: summary-in-loop
with tf.control_dependencies([summary]):
    train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

config = npu_config_proto()
entry = config.graph_options.rewrite_options.custom_optimizers[0]
entry.parameter_map["enable_data_pre_proc"].b = True
entry.parameter_map["iterations_per_loop"].i = 2

with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(iterator.initializer)
    train_op = util.set_iteration_per_loop(sess, train_op, 2)
    for _ in range(2):
        sess.run(train_op)
