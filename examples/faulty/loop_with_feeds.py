"""A loop on the device is fed from Python."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

images = tf.placeholder(tf.float32, [4, 8])
labels = tf.placeholder(tf.int32, [4])
logits = tf.matmul(images, tf.get_variable("w", [8, 3]))
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

config = npu_config_proto()
entry = config.graph_options.rewrite_options.custom_optimizers[0]
entry.parameter_map["enable_data_pre_proc"].b = True
entry.parameter_map["iterations_per_loop"].i = 2

with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    train_op = util.set_iteration_per_loop(sess, train_op, 2)
    batch = {images: np.ones([4, 8]), labels: np.zeros([4])}
    for _ in range(2):
        sess.run(train_op, batch)  # fault: loop-with-feeds
