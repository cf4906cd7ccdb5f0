"""`tf.contrib.opt`: the optimizers of it that projects use."""

import tensorflow.compat.v1 as tf
from tensorflow.contrib.opt_average import MovingAverageOptimizer
from tensorflow.contrib.opt_decay import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    MomentumWOptimizer,
    extend_with_decoupled_weight_decay,
)


class LARSOptimizer(tf.train.Optimizer):
    """Momentum whose rate follows, layer by layer, how large the weights and gradients are.

    You, Gitman and Ginsburg, 2017, https://arxiv.org/abs/1708.03888.
    """

    def __init__(
        self,
        learning_rate,
        momentum=0.9,
        weight_decay=0.0001,
        eeta=0.001,
        epsilon=0.0,
        name="LARSOptimizer",
        skip_list=None,
        use_nesterov=False,
    ):
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "momentum", self._name)

    def _prepare(self):
        def called(value):
            return value() if callable(value) else value

        self._rate = tf.convert_to_tensor(called(self._learning_rate), name="learning_rate")
        self._momentum_now = tf.convert_to_tensor(called(self._momentum), name="momentum")

    def compute_lr(self, grad, var):
        """The rate for `var`, and its gradient with the decay added."""
        rate = self._rate
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return rate, grad
        weight, slope = tf.norm(var, ord=2), tf.norm(grad, ord=2)
        trust = self._eeta * weight / (slope + self._weight_decay * weight + self._epsilon)
        usable = tf.logical_and(weight > 0, slope > 0)
        rate *= tf.where(usable, trust, tf.ones_like(trust))
        return rate, grad + self._weight_decay * var

    def _apply_dense(self, grad, var):
        rate, grad = self.compute_lr(grad, var)
        return tf.raw_ops.ApplyMomentum(
            var=var,
            accum=self.get_slot(var, "momentum"),
            lr=tf.cast(1.0, var.dtype.base_dtype),
            grad=grad * tf.cast(rate, grad.dtype),
            momentum=tf.cast(self._momentum_now, var.dtype.base_dtype),
            use_nesterov=self._use_nesterov,
        )

    def _resource_apply_dense(self, grad, var):
        rate, grad = self.compute_lr(grad, var)
        return tf.raw_ops.ResourceApplyMomentum(
            var=var.handle,
            accum=self.get_slot(var, "momentum").handle,
            lr=tf.cast(1.0, var.dtype.base_dtype),
            grad=grad * tf.cast(rate, grad.dtype),
            momentum=tf.cast(self._momentum_now, var.dtype.base_dtype),
            use_nesterov=self._use_nesterov,
        )

    def _apply_sparse(self, grad, var):
        return tf.raw_ops.SparseApplyMomentum(
            var=var,
            accum=self.get_slot(var, "momentum"),
            lr=tf.cast(self._rate, var.dtype.base_dtype),
            grad=grad.values,
            indices=grad.indices,
            momentum=tf.cast(self._momentum_now, var.dtype.base_dtype),
            use_nesterov=self._use_nesterov,
        )

    def _resource_apply_sparse(self, grad, var, indices):
        return tf.raw_ops.ResourceSparseApplyMomentum(
            var=var.handle,
            accum=self.get_slot(var, "momentum").handle,
            lr=tf.cast(self._rate, var.dtype.base_dtype),
            grad=grad,
            indices=indices,
            momentum=tf.cast(self._momentum_now, var.dtype.base_dtype),
            use_nesterov=self._use_nesterov,
        )


class LazyAdamOptimizer(tf.train.AdamOptimizer):
    """Adam that leaves alone the rows of a table that a step did not look up."""

    def _apply_sparse(self, grad, var):
        return self._update_rows(var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._update_rows(var, grad, indices)

    def _update_rows(self, var, grad, indices):
        dtype = grad.dtype
        power_1, power_2 = (tf.cast(power, dtype) for power in self._get_beta_accumulators())
        beta_1, beta_2 = tf.cast(self._beta1_t, dtype), tf.cast(self._beta2_t, dtype)
        rate = tf.cast(self._lr_t, dtype) * tf.sqrt(1 - power_2) / (1 - power_1)
        slots = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = beta_1 * tf.gather(slots[0], indices) + (1 - beta_1) * grad
        square = beta_2 * tf.gather(slots[1], indices) + (1 - beta_2) * tf.square(grad)
        change = rate * mean / (tf.sqrt(square) + tf.cast(self._epsilon_t, dtype))
        return tf.group(
            tf.scatter_update(slots[0], indices, mean),
            tf.scatter_update(slots[1], indices, square),
            tf.scatter_sub(var, indices, change, use_locking=self._use_locking),
        )


class NadamOptimizer(tf.train.AdamOptimizer):
    """Adam with the look ahead of Nesterov's momentum, for dense gradients."""

    def _apply_dense(self, grad, var):
        return tf.raw_ops.ApplyAdam(
            var=var,
            m=self.get_slot(var, "m"),
            v=self.get_slot(var, "v"),
            **self._numbers(grad, var),
        )

    def _resource_apply_dense(self, grad, var):
        return tf.raw_ops.ResourceApplyAdam(
            var=var.handle,
            m=self.get_slot(var, "m").handle,
            v=self.get_slot(var, "v").handle,
            **self._numbers(grad, var),
        )

    def _apply_sparse_shared(self, grad, var, indices, scatter_add):
        raise NotImplementedError(
            "NadamOptimizer with the gradient of an embedding: TensorFlow 1.15 has it, the "
            "rehearsal on 2.x does not"
        )

    def _numbers(self, grad, var):
        dtype = var.dtype.base_dtype
        power_1, power_2 = self._get_beta_accumulators()
        return {
            "beta1_power": tf.cast(power_1, dtype),
            "beta2_power": tf.cast(power_2, dtype),
            "lr": tf.cast(self._lr_t, dtype),
            "beta1": tf.cast(self._beta1_t, dtype),
            "beta2": tf.cast(self._beta2_t, dtype),
            "epsilon": tf.cast(self._epsilon_t, dtype),
            "grad": grad,
            "use_locking": self._use_locking,
            "use_nesterov": True,
        }
