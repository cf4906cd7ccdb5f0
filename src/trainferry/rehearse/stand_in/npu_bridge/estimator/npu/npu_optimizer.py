"""Stands in for the optimizers that average gradients over ranks."""

import tensorflow as tf

from npu_bridge.estimator.npu.npu_loss_scale_optimizer import NPULossScaleOptimizer
from npu_bridge.hccl import hccl_ops
from npu_bridge.helper import helper
from trainferry_stand_in import ranks
from trainferry_stand_in.errors import RefusedType, RefusedValue
from trainferry_stand_in.gradients import reduce_all
from trainferry_stand_in.keras_optimizer import (
    KerasDistributeOptimizer,
    is_keras_optimizer,
    wrap_keras_optimizer,
)
from trainferry_stand_in.notes import note

gen_npu_ops = helper.get_gen_ops()


def allreduce(tensor, average=True):
    """A tensor, or slices of one, summed over all ranks; divided by their number to average."""
    return reduce_all([tensor], "mean" if average else "sum")[0]


def reduce(tensor, root_rank, average=True, fusion=0, fusion_id=-1):
    """A tensor summed on one rank; divided by the number of ranks to average."""
    total = hccl_ops.reduce(tensor, "sum", root_rank, fusion, fusion_id)
    return total / tf.cast(ranks.world_size(), total.dtype) if average else total


class NPUDistributedOptimizer(tf.train.Optimizer):
    """Averages the gradients of all ranks before they are applied.

    Sharded weight updates give the same weights; here every rank updates all of them.
    """

    def __init__(self, optimizer, is_weight_update_sharding=False, name=None):
        if not isinstance(optimizer, tf.train.Optimizer):
            raise RefusedType(
                f"NPUDistributedOptimizer wraps an optimizer of `tf.train`, not {optimizer!r}"
            )
        self._optimizer = optimizer
        self._is_weight_update_sharding = is_weight_update_sharding
        name = name or f"NPUDistributedOptimizer{type(optimizer).__name__}"
        super().__init__(name=name, use_locking=False)

    def compute_gradients(self, *args, **kwargs):
        return _averaged(self._optimizer.compute_gradients(*args, **kwargs))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        return self._optimizer.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args, **kwargs):
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self, *args, **kwargs):
        return self._optimizer.variables(*args, **kwargs)


class NPUOptimizer(tf.train.Optimizer):
    """Loss scale and averaging in one; the optimisation of the tail changes speed alone."""

    def __init__(
        self,
        opt,
        loss_scale_manager=None,
        is_distributed=False,
        is_loss_scale=False,
        is_tailing_optimization=False,
        name=None,
    ):
        if is_loss_scale and loss_scale_manager is None:
            raise RefusedValue("NPUOptimizer with `is_loss_scale` needs a `loss_scale_manager`")
        inner = NPUDistributedOptimizer(opt) if is_distributed else opt
        if is_loss_scale:
            inner = NPULossScaleOptimizer(inner, loss_scale_manager, is_distributed)
        self._inner = inner
        self._is_tailing_optimization = is_distributed and is_tailing_optimization
        super().__init__(name=name or f"NPUOptimizer{type(opt).__name__}", use_locking=False)

    def compute_gradients(
        self,
        loss,
        var_list=None,
        gate_gradients=tf.train.Optimizer.GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        grad_loss=None,
    ):
        return self._inner.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        return self._inner.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args, **kwargs):
        return self._inner.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._inner.get_slot_names(*args, **kwargs)

    def variables(self, *args, **kwargs):
        return self._inner.variables(*args, **kwargs)


def npu_distributed_optimizer_wrapper(optimizer):
    """Make an optimizer of `tf.train` or Keras average its gradients; it stays the same object."""
    if isinstance(optimizer, str):
        optimizer = tf.keras.optimizers.get(optimizer)
    if getattr(optimizer, "_trainferry_averages", False):
        note("wrapped-twice", "an optimizer is wrapped twice: its gradients travel twice")
    if isinstance(optimizer, tf.train.Optimizer):
        compute = optimizer.compute_gradients
        optimizer.compute_gradients = lambda *args, **kwargs: _averaged(compute(*args, **kwargs))
    elif is_keras_optimizer(optimizer):
        wrap_keras_optimizer(optimizer)
    else:
        raise RefusedType(f"an optimizer is needed, not {optimizer!r}")
    optimizer._trainferry_averages = True
    return optimizer


def npu_allreduce(values, reduction="mean", fusion=1, fusion_id=-1, group="hccl_world_group"):
    """A tensor, or each of a list, summed or averaged over the ranks of a group."""
    if isinstance(values, (list, tuple)):
        return reduce_all(values, reduction, group)
    return reduce_all([values], reduction, group)[0]


def _averaged(grads_and_vars):
    grads_and_vars = list(grads_and_vars)
    gradients = reduce_all([gradient for gradient, _ in grads_and_vars])
    return [(gradient, variable) for gradient, (_, variable) in zip(gradients, grads_and_vars)]
