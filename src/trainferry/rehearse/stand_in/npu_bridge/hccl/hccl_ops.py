"""Stands in for the collective operators of HCCL; ranks really exchange, over a hub."""

import tensorflow as tf
from tensorflow.python.framework import ops

from trainferry_stand_in import exchange, ranks, state
from trainferry_stand_in.broadcast import broadcast_in_place
from trainferry_stand_in.calls import Call, TransferCall, mark, on_host
from trainferry_stand_in.errors import RefusedValue, only_on_device
from trainferry_stand_in.hccl_rules import (
    MOVED,
    REDUCED,
    check_dtype,
    check_fusion,
    check_group,
    check_rank,
    check_reduction,
    check_size,
    tensor_of,
)
from trainferry_stand_in.notes import note
from trainferry_stand_in.uneven import exchange_counts


def allreduce(tensor, reduction, fusion=1, fusion_id=-1, group="hccl_world_group"):
    """`tensor` reduced over all ranks; every rank gets the result."""
    if hasattr(tensor, "assign"):
        note("allreduce-of-variable", "HCCL does not reduce a variable: give `tf.identity` of it")
    tensor = tensor_of(tensor, "allreduce", REDUCED)
    check_reduction(reduction, "allreduce")
    check_fusion(fusion, (0, 1, 2), reduction, "allreduce")
    check_group(group, "allreduce")
    if len(state.members_of(group)) == 1:
        return mark(tf.identity(tensor, name="HcomAllReduce"), "HcomAllReduce")
    call = Call("allreduce", "HcomAllReduce", group)
    carried = _carried(tensor)
    (result,) = on_host(
        call,
        lambda value: exchange.allreduce(call, [value], reduction)[0],
        [carried],
        [carried.dtype],
        [tensor.shape],
        gradient="TrainferryAllReduce" if reduction == "sum" else "TrainferryNoGradient",
    )
    return tf.cast(result, tensor.dtype)


def allgather(tensor, rank_size, group="hccl_world_group", fusion=0, fusion_id=-1):
    """The tensors of all ranks, joined along the first dimension in rank order."""
    tensor = tensor_of(tensor, "allgather", MOVED)
    check_fusion(fusion, (0, 2), None, "allgather")
    check_group(group, "allgather")
    check_size(rank_size, group, "allgather")
    if rank_size == 1:
        return mark(tf.identity(tensor, name="HcomAllGather"), "HcomAllGather")
    call = Call("allgather", "HcomAllGather", group)
    carried = _carried(tensor)
    first = tf.TensorShape([_times(tensor.shape, rank_size)])
    (result,) = on_host(
        call,
        lambda value: exchange.allgather(call, value),
        [carried],
        [carried.dtype],
        [first.concatenate(tensor.shape[1:])],
    )
    return tf.cast(result, tensor.dtype)


def broadcast(tensor, root_rank, fusion=2, fusion_id=0, group="hccl_world_group"):
    """The tensors of the root on every rank; variables among them are overwritten in place."""
    check_fusion(fusion, (0, 2), None, "broadcast")
    check_group(group, "broadcast")
    check_rank(root_rank, group, "broadcast", "root rank")
    return broadcast_in_place(tensor, root_rank, group)


def reduce(tensor, reduction, root_rank, fusion=0, fusion_id=-1, group="hccl_world_group"):
    """`tensor` reduced over all ranks; the root gets the result."""
    tensor = tensor_of(tensor, "reduce", REDUCED)
    check_reduction(reduction, "reduce")
    check_fusion(fusion, (0, 2), reduction, "reduce")
    check_group(group, "reduce")
    check_rank(root_rank, group, "reduce", "root rank")
    if len(state.members_of(group)) == 1:
        return mark(tf.identity(tensor, name="HcomReduce"), "HcomReduce")
    call = Call("reduce", "HcomReduce", group)
    carried = _carried(tensor)
    (result,) = on_host(
        call,
        lambda value: exchange.reduce(call, value, reduction, root_rank),
        [carried],
        [carried.dtype],
        [tensor.shape],
    )
    return tf.cast(result, tensor.dtype)


def reduce_scatter(tensor, reduction, rank_size, group="hccl_world_group", fusion=0, fusion_id=-1):
    """`tensor` reduced over all ranks; each rank gets its share of the first dimension."""
    tensor = tensor_of(tensor, "reduce_scatter", REDUCED)
    check_reduction(reduction, "reduce_scatter")
    check_fusion(fusion, (0, 2), reduction, "reduce_scatter")
    check_group(group, "reduce_scatter")
    check_size(rank_size, group, "reduce_scatter")
    rows = tensor.shape.as_list()[0]
    if rows is None or rows % rank_size:
        raise RefusedValue(
            f"reduce_scatter: the first dimension, {rows}, cannot be shared by {rank_size} ranks"
        )
    if rank_size == 1:
        return mark(tf.identity(tensor, name="HcomReduceScatter"), "HcomReduceScatter")
    call = Call("reduce_scatter", "HcomReduceScatter", group)
    carried = _carried(tensor)
    (result,) = on_host(
        call,
        lambda value: exchange.reduce_scatter(call, value, reduction),
        [carried],
        [carried.dtype],
        [tf.TensorShape([rows // rank_size]).concatenate(tensor.shape[1:])],
    )
    return tf.cast(result, tensor.dtype)


def send(tensor, sr_tag, dest_rank, group="hccl_world_group"):
    """Give `tensor` to one rank, which must `receive` it with the same tag."""
    tensor = tensor_of(tensor, "send", MOVED)
    check_group(group, "send")
    check_rank(dest_rank, group, "send", "destination")
    _check_other(dest_rank, group, "send")
    pair = _pair(group, sr_tag, state.rank_in(group), dest_rank)
    call = TransferCall("send", "HcomSend", group, pair)
    return on_host(
        call, lambda value: exchange.send(call, value, dest_rank), [_carried(tensor)], [], []
    )


def receive(shape, data_type, sr_tag, src_rank, group="hccl_world_group"):
    """What one rank sends with the same tag."""
    dtype = tf.as_dtype(data_type)
    check_dtype(dtype, "receive", MOVED)
    check_group(group, "receive")
    check_rank(src_rank, group, "receive", "source")
    _check_other(src_rank, group, "receive")
    shape = tf.TensorShape(shape)
    if not shape.is_fully_defined():
        raise RefusedValue(f"receive: the shape must be known, not {shape}")
    pair = _pair(group, sr_tag, src_rank, state.rank_in(group))
    call = TransferCall("receive", "HcomReceive", group, pair)
    carried = tf.float32 if dtype == tf.bfloat16 else dtype
    (result,) = on_host(
        call,
        lambda: exchange.receive(call, carried.as_numpy_dtype, shape.as_list(), src_rank),
        [],
        [carried],
        [shape],
    )
    return tf.cast(result, dtype)


def remote_read(tensorRemote, data_type):
    only_on_device("remote_read", "it reads the memory of another device")


def remote_ref_read(tensorRemote, cache, offset):
    only_on_device("remote_ref_read", "it reads the memory of another device")


def remote_write(tensorRemote, tensorLocal, data_type):
    only_on_device("remote_write", "it writes the memory of another device")


def remote_scatter_write(tensorRemote, tensorLocal, offset):
    only_on_device("remote_scatter_write", "it writes the memory of another device")


def gather_all_to_all_v(
    addrinfo,
    addrinfo_count_per_rank,
    recv_counts,
    recv_displacements,
    dtype,
    addr_length,
    group="hccl_world_group",
):
    only_on_device("gather_all_to_all_v", "it reads addresses in the memory of the device")


def all_to_all_v(
    send_data,
    send_counts,
    send_displacements,
    recv_counts,
    recv_displacements,
    group="hccl_world_group",
):
    """Each rank sends a piece to each rank; counts and displacements say which."""
    data = tensor_of(send_data, "all_to_all_v", MOVED)
    check_group(group, "all_to_all_v")
    call = Call("all_to_all", "HcomAllToAllV", group)
    counts = [send_counts, send_displacements, recv_counts, recv_displacements]
    return exchange_counts(call, data, counts)


def all_to_all_v_c(
    send_data, send_count_matrix, rank, fusion=0, fusion_id=-1, group="hccl_world_group"
):
    """Each rank sends a piece to each rank; one matrix, the same everywhere, says how much."""
    data = tensor_of(send_data, "all_to_all_v_c", MOVED)
    check_fusion(fusion, (0, 2), None, "all_to_all_v_c")
    check_group(group, "all_to_all_v_c")
    if rank != state.rank_in(group):
        raise RefusedValue(
            f"all_to_all_v_c: rank is {rank}, but this process is rank {state.rank_in(group)} "
            f"of group `{group}`"
        )
    matrix = tf.convert_to_tensor(send_count_matrix, dtype=tf.int64)
    counts, taken = matrix[rank], matrix[:, rank]
    parts = [counts, tf.cumsum(counts, exclusive=True), taken, tf.cumsum(taken, exclusive=True)]
    return exchange_counts(Call("all_to_all", "HcomAllToAllVC", group), data, parts)


def _carried(tensor):
    """NumPy has no bfloat16, so those travel as float32."""
    return tf.cast(tensor, tf.float32) if tensor.dtype == tf.bfloat16 else tensor


def _times(shape, count):
    rows = shape.as_list()[0] if shape.ndims else None
    return None if rows is None else rows * count


def _pair(group, tag, source, destination):
    return f"{group} {tag} {source}->{destination}"


def _check_other(rank, group, name):
    if rank == state.rank_in(group):
        raise RefusedValue(f"{name}: rank {ranks.world_rank()} is this process itself")


@ops.RegisterGradient("TrainferryAllReduce")
def _allreduce_gradient(op, gradient):
    return allreduce(gradient, "sum")
