"""`tf.contrib.nn`: three losses with their arguments the other way round, and what moved."""

import tensorflow.compat.v1 as tf
from tensorflow.python.ops.nn_ops import nth_element

conv1d_transpose = tf.nn.conv1d_transpose


def deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels, dim=-1, name=None):
    """`tf.nn.softmax_cross_entropy_with_logits`, logits first."""
    return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, labels, name=None):
    """`tf.nn.sparse_softmax_cross_entropy_with_logits`, logits first."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, targets, name=None):
    """`tf.nn.sigmoid_cross_entropy_with_logits`, logits first."""
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)
