"""One device, `session.run`: nothing to find."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

data = tf.data.Dataset.from_tensor_slices(
    (np.random.rand(48, 8, 8, 3).astype("float32"), np.arange(48) % 3)
)
data = data.shuffle(48).repeat().batch(4, drop_remainder=True)
iterator = data.make_initializable_iterator()
images, labels = iterator.get_next()
net = tf.layers.conv2d(images, 4, 3, activation=tf.nn.relu)
net = tf.layers.batch_normalization(net, training=True)
net = tf.layers.max_pooling2d(net, 2, 2)
logits = tf.layers.dense(tf.layers.flatten(net), 3)
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
manager = ExponentialUpdateLossScaleManager(2**8, 1000)
optimizer = NPULossScaleOptimizer(tf.train.AdamOptimizer(0.01), manager)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())

config = npu_config_proto()
entry = config.graph_options.rewrite_options.custom_optimizers[0]
entry.parameter_map["precision_mode_v2"].s = tf.compat.as_bytes("mixed_float16")

with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(iterator.initializer)
    for _ in range(5):
        sess.run([train_op, loss])
    tf.train.Saver().save(sess, "model.ckpt")
