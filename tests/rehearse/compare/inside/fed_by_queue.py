"""An Estimator that `numpy_input_fn` feeds: it seeds `random` anew and begins somewhere."""

import sys
import tempfile

import numpy as np
import tensorflow as tf

COLUMNS = np.arange(400, dtype=np.float32).reshape(100, 4) / 400


def model(features, labels, mode):
    logits = tf.layers.dense(features["x"], 3)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def main():
    for value in range(int(sys.argv[1])):
        tf.constant(value)
    data = tf.estimator.inputs.numpy_input_fn(
        {"x": COLUMNS},
        np.arange(100) % 3,
        batch_size=8,
        num_epochs=None,
        shuffle=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        tf.estimator.Estimator(model, folder).train(data, steps=4)


main()
