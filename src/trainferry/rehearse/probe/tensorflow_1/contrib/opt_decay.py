"""Weight decay beside the gradient instead of in it, for any optimizer.

Loshchilov and Hutter, 2017, https://arxiv.org/abs/1711.05101.
"""

import tensorflow.compat.v1 as tf


class DecoupledWeightDecayExtension:
    """Goes before an optimizer in a class's bases; `weight_decay` is not times the rate."""

    def __init__(self, weight_decay, **options):
        self._keep(None)
        self._weight_decay = weight_decay
        super().__init__(**options)

    def minimize(
        self,
        loss,
        global_step=None,
        var_list=None,
        gate_gradients=tf.train.Optimizer.GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        name=None,
        grad_loss=None,
        decay_var_list=None,
    ):
        self._keep(decay_var_list)
        return super().minimize(
            loss,
            global_step=global_step,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            name=name,
            grad_loss=grad_loss,
        )

    def apply_gradients(self, grads_and_vars, global_step=None, name=None, decay_var_list=None):
        self._keep(decay_var_list or self._decay_var_list)
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _keep(self, variables):
        self._decay_var_list = variables
        self._decayed = None if variables is None else {one.name for one in variables}

    def _prepare(self):
        decay = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        self._decay_now = tf.convert_to_tensor(decay, name="weight_decay")
        super()._prepare()

    def _decays(self, variable):
        return self._decayed is None or variable.name in self._decayed

    def _shrink(self, variable, gradient):
        if not self._decays(variable):
            return tf.no_op()
        decay = tf.cast(self._decay_now, variable.dtype.base_dtype)
        # Behind the gradient, which reads the same variable: 1.15 leaves the order to chance.
        with tf.control_dependencies([gradient]):
            return variable.assign_sub(decay * variable, self._use_locking)

    def _shrink_rows(self, variable, gradient, indices):
        """Only the rows of a table that this step looked up."""
        if not self._decays(variable):
            return tf.no_op()
        decay = tf.cast(self._decay_now, variable.dtype.base_dtype)
        with tf.control_dependencies([gradient]):
            return tf.scatter_sub(variable, indices, decay * tf.gather(variable, indices))

    def _apply_dense(self, grad, var):
        with tf.control_dependencies([self._shrink(var, grad)]):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad, var):
        with tf.control_dependencies([self._shrink(var, grad)]):
            return super()._resource_apply_dense(grad, var)

    def _apply_sparse(self, grad, var):
        with tf.control_dependencies([self._shrink_rows(var, grad.values, grad.indices)]):
            return super()._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad, var, indices):
        with tf.control_dependencies([self._shrink_rows(var, grad, indices)]):
            return super()._resource_apply_sparse(grad, var, indices)


def extend_with_decoupled_weight_decay(base_optimizer):
    """A class like `base_optimizer` whose first argument is the weight decay."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        def __init__(self, weight_decay, *positional, **options):
            # The extension passes keywords on; a base takes its arguments either way.
            base_optimizer.__init__(self, *positional, **options)
            self._keep(None)
            self._weight_decay = weight_decay

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf.train.MomentumOptimizer):
    """Momentum with the decay beside it."""

    def __init__(
        self,
        weight_decay,
        learning_rate,
        momentum,
        use_locking=False,
        name="MomentumW",
        use_nesterov=False,
    ):
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


class AdamWOptimizer(DecoupledWeightDecayExtension, tf.train.AdamOptimizer):
    """Adam with the decay beside it."""

    def __init__(
        self,
        weight_decay,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="AdamW",
    ):
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )
