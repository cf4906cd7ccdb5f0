"""Stands in for the decoder of pictures."""

import tensorflow as tf


def decode_image(contents, channels=0, dtype=tf.uint8, expand_animations=True):
    """A picture of any known format, by the decoder of TensorFlow."""
    return tf.image.decode_image(
        contents, channels=channels, dtype=dtype, expand_animations=expand_animations
    )
