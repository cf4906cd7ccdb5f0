"""Stands in for the optimizer that scales the loss and skips the steps that overflow."""

import tensorflow as tf

from npu_bridge.estimator.npu.npu_loss_scale_manager import FixedLossScaleManager
from npu_bridge.hccl import hccl_ops
from npu_bridge.helper import helper
from trainferry_stand_in import ranks
from trainferry_stand_in.calls import mark, marked
from trainferry_stand_in.errors import RefusedValue
from trainferry_stand_in.loss_scale import all_finite, check_manager, scaled, unscaled
from trainferry_stand_in.notes import note
from trainferry_stand_in.overflow import OverflowStatus

gen_npu_ops = helper.get_gen_ops()

# What the optimizer adds by itself, and no script asked for.
_OWN = "NPULossScaleOptimizer"


class NPULossScaleOptimizer(tf.train.Optimizer):
    """Scales the loss before and the gradients after; a step that overflows changes nothing.

    A step overflows when the status of the device says so, which a rehearsal sets with
    TRAINFERRY_OVERFLOW, or when a gradient is not finite.
    """

    def __init__(self, opt, loss_scale_manager, is_distributed=False):
        if not isinstance(opt, tf.train.Optimizer):
            raise RefusedValue(
                f"NPULossScaleOptimizer wraps an optimizer of `tf.train`, not {opt!r}"
            )
        check_manager(loss_scale_manager)
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager
        self._is_distributed = is_distributed
        self._status = OverflowStatus()
        if is_distributed != (ranks.world_size() > 1):
            note(
                "is-distributed",
                f"NPULossScaleOptimizer has is_distributed={is_distributed}, "
                f"but there are {ranks.world_size()} ranks",
            )
        super().__init__(False, f"NPULossScaleOptimizer{type(opt).__name__}")

    def compute_gradients(
        self,
        loss,
        var_list=None,
        gate_gradients=tf.train.Optimizer.GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        grad_loss=None,
    ):
        scale = self._loss_scale_manager.get_loss_scale()
        grads_and_vars = self._opt.compute_gradients(
            scaled(loss, scale),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        return unscaled(grads_and_vars, scale)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        grads_and_vars = tuple(grads_and_vars)

        def apply():
            return self._opt.apply_gradients(grads_and_vars, global_step, name)

        finite = self._finite([gradient for gradient, _ in grads_and_vars])
        with marked(_OWN):
            update = self._loss_scale_manager.update_loss_scale(finite)
        look = getattr(self._loss_scale_manager, "get_enable_overflow_check", lambda: True)
        # Gradients are read by both, so nothing may be updated before they are known.
        with tf.control_dependencies([finite]):
            step = mark(tf.cond(finite, apply, tf.no_op), _OWN) if look() else apply()
        return tf.group(step, update)

    def get_slot(self, *args, **kwargs):
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self, *args, **kwargs):
        return self._opt.variables(*args, **kwargs)

    def __getattr__(self, name):
        if "_opt" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self._opt, name)

    def _finite(self, gradients):
        """Whether the step is good on this rank, and on all if they are asked."""
        with marked("NpuGetFloatStatus"):
            bad = tf.cast(tf.logical_not(all_finite(gradients)), tf.float32)
            bad = tf.maximum(bad, self._status.overflowed())
        if self._is_distributed:
            bad = hccl_ops.allreduce(bad, "max", fusion=0)
        with marked("NpuGetFloatStatus"):
            return tf.equal(bad, 0.0)
