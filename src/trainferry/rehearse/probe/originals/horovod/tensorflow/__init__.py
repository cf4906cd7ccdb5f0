"""`horovod.tensorflow` for one process."""

import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.training import session_run_hook

from .. import NotInStandIn
from ..one_process import (
    ccl_built,
    cross_rank,
    cross_size,
    cuda_built,
    ddl_built,
    gloo_built,
    gloo_enabled,
    init,
    is_homogeneous,
    is_initialized,
    local_rank,
    local_size,
    mpi_built,
    mpi_enabled,
    mpi_threads_supported,
    nccl_built,
    rank,
    rocm_built,
    shutdown,
    size,
)

Average, Sum, Adasum = 1, 2, 3


class _NoCompression:
    @staticmethod
    def compress(tensor):
        return tensor, None

    @staticmethod
    def decompress(tensor, context):
        return tensor


class _HalfCompression:
    @staticmethod
    def compress(tensor):
        if not tensor.dtype.is_floating:
            return tensor, tensor.dtype
        return tf.cast(tensor, tf.float16), tensor.dtype

    @staticmethod
    def decompress(tensor, context):
        return tf.cast(tensor, context)


class Compression:
    """How tensors travel."""

    none = _NoCompression
    fp16 = _HalfCompression


def allreduce(
    tensor,
    average=None,
    device_dense="",
    device_sparse="",
    compression=Compression.none,
    op=None,
    name=None,
    **more,
):
    """The tensor itself; compressed and back, as for several."""
    size()
    if isinstance(tensor, ops.IndexedSlices):
        return tensor
    small, context = compression.compress(tf.convert_to_tensor(tensor))
    return tf.identity(compression.decompress(small, context), name=name)


def allgather(tensor, name=None, **more):
    size()
    return tf.identity(tensor, name=name)


def broadcast(tensor, root_rank, name=None, **more):
    _require_root(root_rank)
    return tf.identity(tensor, name=name)


def broadcast_variables(variables, root_rank, **more):
    _require_root(root_rank)
    return tf.no_op(name="broadcast_variables")


def broadcast_global_variables(root_rank):
    return broadcast_variables([], root_rank)


def _require_root(root_rank):
    size()
    if root_rank != 0:
        raise ValueError(f"root_rank is {root_rank}, and there is one process, number 0")


class BroadcastGlobalVariablesHook(session_run_hook.SessionRunHook):
    """Nothing to send, and nobody to send it to."""

    def __init__(self, root_rank, device=""):
        super().__init__()
        _require_root(root_rank)


def DistributedOptimizer(optimizer, name=None, *args, **options):
    """The optimizer itself: with one process Horovod's leaves gradients as they are."""
    if options.get("backward_passes_per_step", 1) != 1:
        raise NotInStandIn("DistributedOptimizer(backward_passes_per_step=...)")
    return optimizer


def DistributedGradientTape(gradtape, *args, **options):
    return gradtape
