"""An estimator: trains, evaluates and predicts."""

import sys

import numpy as np
import tensorflow as tf

ROWS = np.random.RandomState(0).rand(64, 8).astype("float32")


def model_fn(features, labels, mode):
    output = tf.layers.dense(features["x"], 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=output)
    loss = tf.reduce_mean(tf.square(output - labels))
    step = tf.train.get_or_create_global_step()
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step)
    metrics = {"error": tf.metrics.mean(loss)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, eval_metric_ops=metrics)


def read_rows():
    rows = tf.data.Dataset.from_tensor_slices(({"x": ROWS}, ROWS[:, :1]))
    return rows.batch(2, drop_remainder=True).repeat()


estimator = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1])
estimator.train(read_rows, max_steps=1000)
found = estimator.evaluate(read_rows, steps=500)
print("evaluated at", found["global_step"])
