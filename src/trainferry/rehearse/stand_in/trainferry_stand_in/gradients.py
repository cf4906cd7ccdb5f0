"""Gradients averaged over ranks: all of one step in one exchange, sparse ones gathered."""

import numpy as np
import tensorflow as tf

from trainferry_stand_in import exchange, ranks, state
from trainferry_stand_in.calls import Call, on_host
from trainferry_stand_in.errors import RefusedValue
from trainferry_stand_in.hccl_rules import REDUCED, check_dtype


def reduce_all(values, reduction="mean", group=ranks.WORLD, name=None):
    """Each value summed or averaged over the ranks of a group; None stays None.

    The dense ones travel together, as the device fuses them; waiting for one by one would
    keep a thread each.
    """
    if reduction not in ("mean", "sum"):
        raise RefusedValue(f"gradients are reduced by sum or mean, not `{reduction}`")
    members = len(state.members_of(group))
    if members == 1:
        return list(values)
    factor = 1.0 / members if reduction == "mean" else 1.0
    reduced = list(values)
    dense = [i for i, value in enumerate(reduced) if _is_dense(value)]
    for index, value in zip(dense, _sum([reduced[i] for i in dense], group, name)):
        reduced[index] = _scaled(value, factor)
    for index, value in enumerate(reduced):
        if isinstance(value, tf.IndexedSlices):
            reduced[index] = _gather_slices(value, factor, group)
    return reduced


def _is_dense(value):
    return value is not None and not isinstance(value, tf.IndexedSlices)


def _sum(tensors, group, name):
    if not tensors:
        return []
    tensors = [tf.convert_to_tensor(tensor) for tensor in tensors]
    for tensor in tensors:
        check_dtype(tensor.dtype, "allreduce", REDUCED)
    call = Call("allreduce", "HcomAllReduce", group, name)
    carried = [tf.cast(t, tf.float32) if t.dtype == tf.bfloat16 else t for t in tensors]
    results = on_host(
        call,
        lambda *arrays: exchange.allreduce(call, arrays, "sum"),
        carried,
        [tensor.dtype for tensor in carried],
        [tensor.shape for tensor in tensors],
    )
    return [tf.cast(result, tensor.dtype) for result, tensor in zip(results, tensors)]


def _scaled(value, factor):
    return value if factor == 1.0 else value * tf.cast(factor, value.dtype)


def _gather_slices(slices, factor, group):
    """The rows of all ranks, one after the other; each rank may have touched other rows."""
    call = Call("allgather", "HcomAllGather", group)

    def gather(values, indices):
        rows = np.concatenate(exchange.gather_uneven(call, values))
        return rows, np.concatenate(exchange.gather_uneven(call, indices))

    values, indices = on_host(
        call,
        gather,
        [slices.values, slices.indices],
        [slices.values.dtype, slices.indices.dtype],
        [tf.TensorShape([None]).concatenate(slices.values.shape[1:]), [None]],
    )
    return tf.IndexedSlices(_scaled(values, factor), indices, slices.dense_shape)
