"""What collectives compute, on NumPy arrays; every rank reduces in rank order, to the same bits."""

import functools

import numpy as np

from trainferry_stand_in import ranks, state
from trainferry_stand_in.client import hub
from trainferry_stand_in.errors import RefusedValue

REDUCTIONS = {"sum": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply}


def allreduce(call, arrays, reduction):
    parts = _gather(call, arrays, {"reduction": reduction})
    return [_reduce(reduction, same) for same in zip(*parts)]


def broadcast(call, arrays, root):
    """The values of the root; the others send only what they would receive."""
    members = state.members_of(call.group)
    if not 0 <= root < len(members):
        raise RefusedValue(f"root rank {root} is not in group `{call.group}`")
    mine = ranks.world_rank() == members[root]
    parts = _gather(call, arrays, {"root": root}, with_values=mine)
    return [array.copy() for array in parts[root]]


def allgather(call, array):
    return np.concatenate([part[0] for part in _gather(call, [array], {})], axis=0)


def gather_uneven(call, array):
    """One array of each rank; the first dimensions may differ, as with sparse gradients."""
    return [part[0] for part in _gather(call, [array], {"uneven": True})]


def reduce(call, array, reduction, root):
    """The reduced array on the root; the others keep theirs."""
    parts = _gather(call, [array], {"reduction": reduction, "root": root})
    if state.rank_in(call.group) == root:
        return _reduce(reduction, [part[0] for part in parts])
    return np.array(array)


def reduce_scatter(call, array, reduction):
    parts = _gather(call, [array], {"reduction": reduction})
    whole = _reduce(reduction, [part[0] for part in parts])
    return np.split(whole, len(parts), axis=0)[state.rank_in(call.group)]


def send(call, array, to):
    members = state.members_of(call.group)
    header = _header(call, [array], {"from": ranks.world_rank(), "to": members[to]})
    hub().request(header, array.tobytes())


def receive(call, dtype, shape, source):
    members = state.members_of(call.group)
    empty = np.zeros(shape, dtype)
    header = _header(call, [empty], {"from": members[source], "to": ranks.world_rank()})
    (part,) = hub().request(header)
    return _arrays(*part)[0].copy()


def _gather(call, arrays, options, with_values=True):
    """The arrays of every rank of the group, in the order of its ranks."""
    arrays = [np.asarray(array) for array in arrays]
    members = state.members_of(call.group)
    state.rank_in(call.group)
    if len(members) == 1:
        return [[array.copy() for array in arrays]]
    header = _header(call, arrays, options)
    header["members"] = list(members)
    # `tobytes` keeps a scalar a scalar; `ascontiguousarray` makes a vector of it.
    payload = b"".join(array.tobytes() for array in arrays) if with_values else b""
    return [_arrays(part, data) for part, data in hub().request(header, payload)]


def _header(call, arrays, options):
    return {
        "kind": call.kind,
        "tag": call.next_tag(),
        "group": call.group,
        "operator": call.name,
        "place": call.place,
        "options": options,
        "tensors": [[str(array.dtype), list(array.shape)] for array in arrays],
    }


def _arrays(part, data):
    """TensorFlow may write into what it is given, so results that are views are copied later."""
    arrays, start = [], 0
    if not data:
        return [np.zeros(shape, dtype) for dtype, shape in part["tensors"]]
    for dtype, shape in part["tensors"]:
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(data, dtype=dtype, count=count, offset=start)
        arrays.append(array.reshape(shape))
        start += array.nbytes
    return arrays


def _reduce(reduction, arrays):
    return functools.reduce(REDUCTIONS[reduction], arrays)
