"""An Estimator of the NPU: nothing to find."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(
        (np.random.rand(48, 8).astype("float32"), np.arange(48) % 3)
    )
    return data.shuffle(48).repeat().batch(4, drop_remainder=True)


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 16, activation=tf.nn.relu)
    net = npu_ops.dropout(net, keep_prob=0.9) if mode == tf.estimator.ModeKeys.TRAIN else net
    logits = tf.layers.dense(net, 3)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, axis=1))
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops={"accuracy": accuracy}
    )


config = NPURunConfig(
    model_dir="model", precision_mode="allow_mix_precision", save_checkpoints_steps=4
)
estimator = NPUEstimator(model_fn, config=config)
estimator.train(input_fn, steps=4)
estimator.evaluate(input_fn, steps=2)
