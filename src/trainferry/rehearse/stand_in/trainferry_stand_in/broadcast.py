"""Broadcast as on the device: the variables of every rank take the values of the root."""

import tensorflow as tf

from trainferry_stand_in import exchange, state
from trainferry_stand_in.calls import Call, mark, on_host
from trainferry_stand_in.errors import RefusedType
from trainferry_stand_in.hccl_rules import MOVED, check_dtype


def broadcast_in_place(tensors, root, group):
    """The values of the root, as tensors; each variable is assigned when its tensor is run."""
    if not isinstance(tensors, (list, tuple)):
        raise RefusedType(
            f"broadcast takes a list of tensors, not {type(tensors).__name__}; "
            f"write `broadcast([tensor], {root})`"
        )
    targets = list(tensors)
    values = [tf.convert_to_tensor(target) for target in targets]
    for value in values:
        check_dtype(value.dtype, "broadcast", MOVED)
    if not values:
        return []
    if len(state.members_of(group)) == 1:
        return [mark(tf.identity(value, name="HcomBroadcast"), "HcomBroadcast") for value in values]
    call = Call("broadcast", "HcomBroadcast", group)
    carried = [tf.cast(v, tf.float32) if v.dtype.base_dtype == tf.bfloat16 else v for v in values]
    results = on_host(
        call,
        lambda *arrays: exchange.broadcast(call, arrays, root),
        carried,
        [value.dtype.base_dtype for value in carried],
        [value.shape for value in values],
    )
    return [_assigned(target, result, call) for target, result in zip(targets, results)]


def _assigned(target, result, call):
    """Assign where the device would overwrite: variables, and tensors that refer to one."""
    result = tf.cast(result, _dtype_of(target))
    if hasattr(target, "assign"):
        new = target.assign(result)
    elif isinstance(target, tf.Tensor) and target.dtype._is_ref_dtype:
        new = tf.assign(target, result)
    else:
        return result
    return mark(tf.identity(new), "HcomBroadcast", call.place)


def _dtype_of(target):
    return tf.as_dtype(target.dtype).base_dtype
