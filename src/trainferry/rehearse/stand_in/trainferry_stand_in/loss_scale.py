"""What managers of the loss scale have in common, and how a scaled step is applied or skipped."""

import tensorflow as tf
from tensorflow.python.framework import ops

from trainferry_stand_in.errors import RefusedType, RefusedValue
from trainferry_stand_in.notes import note


class LossScaleManager:
    """Knows the scale of the loss, and changes it after each step."""

    def get_loss_scale(self):
        raise NotImplementedError

    def update_loss_scale(self, finite_grads):
        raise NotImplementedError


def check_manager(manager):
    for name in ("get_loss_scale", "update_loss_scale"):
        if not callable(getattr(manager, name, None)):
            raise RefusedType(
                f"`loss_scale_manager` must be a manager of the loss scale, not {manager!r}"
            )


def check_not_controlled(name):
    """Managers make variables, whose order control dependencies would turn around."""
    if ops.get_default_graph()._current_control_dependencies():
        note(
            "manager-in-control-dependencies",
            f"{name} is made under `tf.control_dependencies`, which changes the order in which the "
            "device runs it; make it outside",
        )


def scaled(loss, scale):
    if callable(loss):
        raise RefusedValue("the loss of a graph is a tensor; functions belong to eager execution")
    return loss * tf.cast(scale, loss.dtype.base_dtype)


def unscaled(grads_and_vars, scale):
    """The gradients divided by the scale, each in its own dtype."""
    inverse = tf.math.reciprocal(scale)
    return [(_times(gradient, inverse), variable) for gradient, variable in grads_and_vars]


def all_finite(gradients):
    """Whether every number of every gradient is finite."""
    checks = [
        tf.reduce_all(tf.math.is_finite(_values(gradient)))
        for gradient in gradients
        if gradient is not None
    ]
    return tf.reduce_all(tf.stack(checks)) if checks else tf.constant(True)


def _times(gradient, factor):
    if gradient is None:
        return None
    if isinstance(gradient, tf.IndexedSlices):
        values = gradient.values * tf.cast(factor, gradient.values.dtype.base_dtype)
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient * tf.cast(factor, gradient.dtype.base_dtype)


def _values(gradient):
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
