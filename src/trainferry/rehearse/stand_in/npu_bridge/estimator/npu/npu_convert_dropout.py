"""Stands in for the module whose import puts the NPU's dropout into the layers of Keras."""

import tensorflow as tf

from npu_bridge.estimator import npu_ops

_original = tf.keras.layers.Dropout.call


def dropout_call(self, inputs, training=None):
    """Dropout by the operator of the NPU; with a noise shape, by TensorFlow as before."""
    if training is None:
        training = tf.keras.backend.learning_phase()
    if getattr(self, "noise_shape", None) is not None or type(self)._get_noise_shape is not _SHAPE:
        return _original(self, inputs, training=training)

    def dropped():
        return npu_ops.dropout(inputs, keep_prob=1 - self.rate, seed=self.seed)

    if isinstance(training, (bool, int)):
        return dropped() if training else tf.identity(inputs)
    return tf.cond(tf.cast(training, tf.bool), dropped, lambda: tf.identity(inputs))


_SHAPE = tf.keras.layers.Dropout._get_noise_shape
tf.keras.layers.Dropout.call = dropout_call
