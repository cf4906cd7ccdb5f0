"""`tf.contrib.mixed_precision`: loss scales, fixed or following the gradients."""

import abc

import tensorflow.compat.v1 as tf


class LossScaleManager(abc.ABC):
    """Knows the scale of the loss, and learns whether the gradients were finite."""

    @abc.abstractmethod
    def get_loss_scale(self):
        """The scale, a scalar tensor."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads):
        """An operation that follows on one step, whose gradients were `finite_grads`."""


class FixedLossScaleManager(LossScaleManager):
    """One scale for the whole training."""

    def __init__(self, loss_scale):
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = tf.convert_to_tensor(loss_scale, dtype=tf.float32)

    def get_loss_scale(self):
        return self._loss_scale

    def update_loss_scale(self, finite_grads):
        del finite_grads
        return tf.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """Multiplies the scale after good steps in a row, and again after bad ones."""

    def __init__(
        self,
        init_loss_scale,
        incr_every_n_steps,
        decr_every_n_nan_or_inf=2,
        incr_ratio=2,
        decr_ratio=0.8,
    ):
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        self._loss_scale = self._variable("loss_scale", tf.float32, init_loss_scale)
        self._good = self._variable("good_steps", tf.int32, 0)
        self._bad = self._variable("bad_steps", tf.int32, 0)

    @staticmethod
    def _variable(name, dtype, value):
        return tf.Variable(
            name=name,
            initial_value=tf.convert_to_tensor(value, dtype),
            dtype=dtype,
            trainable=False,
            use_resource=True,
        )

    def get_loss_scale(self):
        return self._loss_scale

    def update_loss_scale(self, finite_grads):
        return tf.cond(finite_grads, self._after_good, self._after_bad)

    def _after_good(self):
        return tf.cond(
            self._good + 1 >= self._incr_every_n_steps,
            self._increase,
            lambda: tf.group(self._good.assign_add(1)),
        )

    def _increase(self):
        larger = self._loss_scale * self._incr_ratio
        # A scale beyond float32 stays where it was.
        scale = tf.cond(tf.is_finite(larger), lambda: larger, self._loss_scale.value)
        return self._start_over(scale)

    def _after_bad(self):
        return tf.cond(
            self._bad + 1 >= self._decr_every_n_nan_or_inf,
            lambda: self._start_over(tf.maximum(1.0, self._loss_scale * self._decr_ratio)),
            lambda: tf.group(self._bad.assign_add(1), self._good.assign(0)),
        )

    def _start_over(self, scale):
        return tf.group(self._loss_scale.assign(scale), self._good.assign(0), self._bad.assign(0))


class LossScaleOptimizer(tf.train.Optimizer):
    """Scales the loss and unscales the gradients; leaves a step out when they are not finite."""

    def __init__(self, opt, loss_scale_manager):
        # Without the base's __init__, as everything is passed on to `opt`.
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(self, loss, var_list=None, *others, **options):
        scale = self._loss_scale_manager.get_loss_scale()
        if tf.executing_eagerly():

            def scaled():
                value = loss()
                return value * tf.cast(scale, value.dtype)

        else:
            scaled = loss * tf.cast(scale, loss.dtype.base_dtype)
        pairs = self._opt.compute_gradients(scaled, var_list, *others, **options)
        return [(_divide(gradient, scale), variable) for gradient, variable in pairs]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        finite = tf.reduce_all(
            [
                tf.reduce_all(tf.is_finite(getattr(gradient, "values", gradient)))
                for gradient, _ in pairs
                if gradient is not None
            ]
        )
        step = tf.cond(
            finite,
            lambda: tf.group(self._opt.apply_gradients(pairs, global_step, name)),
            tf.no_op,
        )
        return tf.group(step, self._loss_scale_manager.update_loss_scale(finite))


def _divide(gradient, scale):
    if gradient is None:
        return None
    if isinstance(gradient, tf.IndexedSlices):
        values = gradient.values / tf.cast(scale, gradient.values.dtype)
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient / tf.cast(scale, gradient.dtype)
