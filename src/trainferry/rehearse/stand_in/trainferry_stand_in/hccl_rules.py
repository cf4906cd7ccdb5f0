"""What HCCL accepts: dtypes, reductions, shapes, groups, ranks."""

import numbers

import tensorflow as tf

from trainferry_stand_in import state
from trainferry_stand_in.errors import RefusedType, RefusedValue

REDUCED = ("int8", "int16", "int32", "int64", "float16", "float32", "bfloat16")
MOVED = (*REDUCED, "uint8", "uint16", "uint32", "uint64", "float64")
REDUCTIONS = ("sum", "max", "min", "prod")


def tensor_of(value, name, dtypes):
    """`value` as a tensor of one of `dtypes`."""
    tensor = tf.convert_to_tensor(value)
    check_dtype(tensor.dtype, name, dtypes)
    return tensor


def check_dtype(dtype, name, dtypes):
    found = tf.as_dtype(dtype).base_dtype.name
    if found not in dtypes:
        raise RefusedType(
            "HCCL has no {} for {}; the device takes {}".format(name, found, ", ".join(dtypes))
        )


def check_reduction(reduction, name):
    if reduction not in REDUCTIONS:
        raise RefusedValue(
            "{} knows the reductions {}; `{}` is none of them".format(
                name, ", ".join(REDUCTIONS), reduction
            )
        )


def check_fusion(fusion, allowed, reduction, name):
    if fusion not in allowed:
        raise RefusedValue(f"{name}: fusion is one of {allowed}, not {fusion}")
    if fusion == 2 and reduction not in (None, "sum"):
        raise RefusedValue(f"{name}: only sums are fused, not `{reduction}`")


def check_group(group, name):
    if not isinstance(group, str):
        raise RefusedType(f"{name}: group is a name, not {group!r}")
    if not 0 < len(group.encode("utf-8")) < 128:
        raise RefusedValue(f"{name}: a group's name has 1 to 127 bytes")
    state.rank_in(group)


def check_rank(rank, group, name, what):
    if not isinstance(rank, numbers.Integral) or isinstance(rank, bool):
        raise RefusedType(f"{name}: {what} is a number, not {rank!r}")
    size = len(state.members_of(group))
    if not 0 <= rank < size:
        raise RefusedValue(f"{name}: {what} {rank} is not in group `{group}` of {size} ranks")


def check_size(size, group, name):
    members = len(state.members_of(group))
    if size != members:
        raise RefusedValue(f"{name}: rank_size is {size}, but group `{group}` has {members} ranks")
