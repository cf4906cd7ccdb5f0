"""`tf.contrib.image`: turning, moving and bending pictures by projective transforms."""

import tensorflow.compat.v1 as tf


def transform(images, transforms, interpolation="NEAREST", output_shape=None, name=None):
    """Fill each pixel (x, y) from (a0 x + a1 y + a2, b0 x + b1 y + b2) / (c0 x + c1 y + 1).

    A transform is the vector [a0, a1, a2, b0, b1, b2, c0, c1]; one for all, or one per picture.
    """
    with tf.name_scope(name, "transform", [images, transforms]):
        images = tf.convert_to_tensor(images)
        rank = images.shape.rank
        if rank not in (2, 3, 4):
            raise TypeError("Images should have rank between 2 and 4.")
        batch = images
        if rank == 2:
            batch = images[tf.newaxis, :, :, tf.newaxis]
        elif rank == 3:
            batch = images[tf.newaxis]
        transforms = tf.convert_to_tensor(transforms, tf.float32)
        if transforms.shape.rank == 1:
            transforms = transforms[tf.newaxis]
        if output_shape is None:
            output_shape = tf.shape(batch)[1:3]
        result = tf.raw_ops.ImageProjectiveTransformV2(
            images=batch,
            transforms=transforms,
            output_shape=output_shape,
            interpolation=interpolation.upper(),
        )
        if rank == 2:
            return result[0, :, :, 0]
        return result[0] if rank == 3 else result


def rotate(images, angles, interpolation="NEAREST", name=None):
    """Turn pictures counter-clockwise around their middle by `angles` in radians."""
    with tf.name_scope(name, "rotate"):
        images = tf.convert_to_tensor(images)
        shape = tf.cast(tf.shape(images), tf.float32)
        height, width = (shape[0], shape[1]) if images.shape.rank < 4 else (shape[1], shape[2])
        transforms = angles_to_projective_transforms(angles, height, width)
        return transform(images, transforms, interpolation)


def translate(images, translations, interpolation="NEAREST", name=None):
    """Move pictures by [dx, dy]; one vector for all, or one per picture."""
    with tf.name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def angles_to_projective_transforms(angles, image_height, image_width, name=None):
    """The transforms that turn around the middle."""
    with tf.name_scope(name, "angles_to_projective_transforms"):
        angles = tf.reshape(tf.convert_to_tensor(angles, tf.float32), [-1])
        sine, cosine = tf.sin(angles), tf.cos(angles)
        width, height = image_width - 1, image_height - 1
        offset_x = (width - (cosine * width - sine * height)) / 2.0
        offset_y = (height - (sine * width + cosine * height)) / 2.0
        zero = tf.zeros_like(angles)
        return tf.stack([cosine, -sine, offset_x, sine, cosine, offset_y, zero, zero], axis=1)


def translations_to_projective_transforms(translations, name=None):
    """The transforms that move."""
    with tf.name_scope(name, "translations_to_projective_transforms"):
        moves = tf.reshape(tf.convert_to_tensor(translations, tf.float32), [-1, 2])
        zero, one = tf.zeros_like(moves[:, 0]), tf.ones_like(moves[:, 0])
        return tf.stack([one, zero, -moves[:, 0], zero, one, -moves[:, 1], zero, zero], axis=1)
