"""Keras: nothing to find."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

sess = set_keras_session_npu_config(config=None)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(16, activation="relu", batch_input_shape=(4, 8)),
        tf.keras.layers.Dense(3, activation="softmax"),
    ]
)
model.compile(
    optimizer=tf.train.MomentumOptimizer(0.1, 0.9), loss="sparse_categorical_crossentropy"
)
model.fit(np.random.rand(24, 8), np.arange(24) % 3, batch_size=4, epochs=1, verbose=0)
close_session(sess)
