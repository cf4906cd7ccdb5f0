"""Keras in graph mode: fits and evaluates."""

import numpy as np
import tensorflow as tf

layers = [tf.keras.layers.Dense(4, input_shape=(8,)), tf.keras.layers.Dense(1)]
model = tf.keras.Sequential(layers)
model.compile("adam", "mse")
rows = np.random.RandomState(0).rand(64, 8).astype("float32")
history = model.fit(rows, rows[:, :1], batch_size=4, epochs=5, verbose=0)
print("epochs", len(history.history["loss"]))
print("evaluated", model.evaluate(rows, rows[:, :1], verbose=0) > 0)
