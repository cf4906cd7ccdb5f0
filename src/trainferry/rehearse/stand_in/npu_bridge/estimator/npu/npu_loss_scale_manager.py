"""Stands in for the managers of the loss scale, with the update rules of TensorFlow 1.15."""

import tensorflow as tf

from trainferry_stand_in.errors import RefusedValue
from trainferry_stand_in.loss_scale import LossScaleManager, check_not_controlled


class FixedLossScaleManager(LossScaleManager):
    """One scale for the whole run; overflowing steps are skipped if it is to look."""

    def __init__(self, loss_scale, enable_overflow_check=True):
        if loss_scale < 1:
            raise RefusedValue(f"loss scale must be at least 1, not {loss_scale}")
        self._loss_scale = tf.convert_to_tensor(loss_scale, dtype=tf.float32)
        self._enable_overflow_check = enable_overflow_check

    def get_loss_scale(self):
        return self._loss_scale

    def update_loss_scale(self, finite_grads):
        return tf.no_op()

    def get_enable_overflow_check(self):
        return self._enable_overflow_check


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """Grows after good steps in a row, shrinks after bad ones, which need not be in a row."""

    def __init__(
        self,
        init_loss_scale,
        incr_every_n_steps,
        decr_every_n_nan_or_inf=2,
        incr_ratio=2,
        decr_ratio=0.8,
    ):
        check_not_controlled("ExponentialUpdateLossScaleManager")
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        self._loss_scale = _variable("loss_scale", tf.float32, float(init_loss_scale))
        self._num_good_steps = _variable("good_steps", tf.int32, 0)
        self._num_bad_steps = _variable("bad_steps", tf.int32, 0)

    def get_loss_scale(self):
        return tf.identity(self._loss_scale)

    def update_loss_scale(self, finite_grads):
        return tf.cond(finite_grads, self._after_good_step, self._after_bad_step)

    def _after_good_step(self):
        grown = self._loss_scale * self._incr_ratio

        def grow():
            kept = tf.cond(
                tf.math.is_finite(grown),
                lambda: tf.assign(self._loss_scale, grown).op,
                tf.no_op,
            )
            return tf.group(kept, self._clear())

        due = self._num_good_steps + 1 >= self._incr_every_n_steps
        return tf.cond(due, grow, lambda: tf.assign_add(self._num_good_steps, 1).op)

    def _after_bad_step(self):
        def shrink():
            smaller = tf.maximum(1.0, self._loss_scale * self._decr_ratio)
            return tf.group(tf.assign(self._loss_scale, smaller), self._clear())

        def count():
            return tf.group(
                tf.assign_add(self._num_bad_steps, 1), tf.assign(self._num_good_steps, 0)
            )

        return tf.cond(self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf, shrink, count)

    def _clear(self):
        return tf.group(tf.assign(self._num_good_steps, 0), tf.assign(self._num_bad_steps, 0))


def _variable(name, dtype, value):
    return tf.Variable(value, trainable=False, dtype=dtype, name=name)
