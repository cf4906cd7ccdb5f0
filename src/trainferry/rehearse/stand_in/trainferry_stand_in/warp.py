"""Pictures whose pixels are taken from elsewhere, between four neighbours."""

import tensorflow as tf


def warp(image, flow):
    """`image` at its own grid minus `flow`; [batch, height, width, channels] and [..., 2]."""
    batch, height, width, channels = tf.unstack(tf.shape(image))
    grid = tf.stack(tf.meshgrid(tf.range(height), tf.range(width), indexing="ij"), axis=-1)
    wanted = tf.cast(grid, flow.dtype)[tf.newaxis] - flow
    last = tf.cast([height - 2, width - 2], flow.dtype)
    corner = tf.maximum(tf.minimum(tf.floor(wanted), last), 0.0)
    part = tf.clip_by_value(wanted - corner, 0.0, 1.0)
    corner = tf.cast(corner, tf.int32)
    flat = tf.reshape(image, [batch * height * width, channels])
    first = tf.reshape(tf.range(batch) * height * width, [-1, 1, 1])

    def pixel(down, right):
        index = first + (corner[..., 0] + down) * width + corner[..., 1] + right
        return tf.gather(flat, index)

    down, right = tf.cast(part[..., :1], image.dtype), tf.cast(part[..., 1:], image.dtype)
    top = pixel(0, 0) * (1 - right) + pixel(0, 1) * right
    bottom = pixel(1, 0) * (1 - right) + pixel(1, 1) * right
    return tf.ensure_shape(top * (1 - down) + bottom * down, image.shape)
