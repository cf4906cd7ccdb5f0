"""The gradient of layer-wise adaptive rate scaling."""

import tensorflow as tf


def lars_gradient(weight, gradient, weight_decay, hyperpara, epsilon, clip_rate=None):
    """The gradient with decay, scaled by the norms; the scale over `clip_rate` is at most 1."""
    weight, gradient = tf.convert_to_tensor(weight), tf.convert_to_tensor(gradient)
    weight_norm, gradient_norm = tf.norm(weight), tf.norm(gradient)
    scale = hyperpara * weight_norm / (gradient_norm + weight_decay * weight_norm + epsilon)
    if clip_rate is not None:
        scale = tf.minimum(scale / clip_rate, 1.0)
    return (gradient + weight_decay * weight) * scale
