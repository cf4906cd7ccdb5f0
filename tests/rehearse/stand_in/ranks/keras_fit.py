"""Fits a Keras model with its share of the batch, and writes the weights."""

import sys

import numpy as np
import tensorflow as tf

from npu_bridge.npu_init import *

STEPS, BATCH = 4, 8


def main(style, target):
    npu_session, npu_shutdown = init_resource()
    rank, size = get_npu_rank_id(), get_npu_rank_size()
    keras_session = set_keras_session_npu_config()
    tf.set_random_seed(3 + rank)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(6, activation="tanh", input_shape=(5,)),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    if style == "class":
        optimizer = KerasDistributeOptimizer(optimizer)
    else:
        optimizer = npu_distributed_optimizer_wrapper(optimizer)
    model.compile(optimizer, "mse")
    x = np.random.RandomState(0).randn(STEPS * BATCH, 5).astype(np.float32)
    y = np.sin(x.sum(1, keepdims=True))
    model.fit(
        x[rank::size],
        y[rank::size],
        batch_size=BATCH // size,
        epochs=2,
        shuffle=False,
        verbose=0,
        callbacks=npu_callbacks_append([]),
    )
    found = {f"w{i}": weight for i, weight in enumerate(model.get_weights())}
    np.savez(f"{target}.{size}.{rank}.npz", **found)
    shutdown_resource(npu_session, npu_shutdown)
    close_session(npu_session)
    close_session(keras_session)


main(*sys.argv[1:])
