"""Horovod's names for TensorFlow and Keras, and what to write where no edit is certain."""

from __future__ import annotations

from typing import NamedTuple

from trainferry.migrate.rules._distributed import (
    RANK_FUNCTIONS,
    START,
    broadcast_text,
    is_horovod,
)

_MODULES = (
    "horovod.tensorflow.keras.",
    "horovod.tensorflow.",
    "horovod.keras.",
    "horovod.common.",
)
_SUBMODULES = ("mpi_ops.", "functions.", "compression.", "_keras.", "basics.")


class Member(NamedTuple):
    """`callbacks.MetricAverageCallback`; the Keras modules run at once what others build."""

    name: str
    is_keras: bool


def member(path: str | None) -> Member | None:
    """What of Horovod a full name is; "" for a module itself, None for other libraries."""
    if path is None or not is_horovod(path):
        return None
    for module in _MODULES:
        if path.startswith(module) or f"{path}." == module:
            rest = path[len(module) :]
            for part in _SUBMODULES:
                rest = "" if f"{rest}." == part else rest.removeprefix(part)
            return Member(rest, "keras" in module)
    return Member(path.removeprefix("horovod").removeprefix("."), is_keras=False)


BUILT = frozenset(
    f"{library}_{what}"
    for library in ("mpi", "gloo", "nccl", "ddl", "ccl", "cuda", "rocm")
    for what in ("built", "enabled")
) | {"mpi_threads_supported"}

OPERATORS = frozenset(("Average", "Sum", "Adasum", "Max", "Min", "Product"))

# What takes the place of a name that is not known for certain to be Horovod's.
SPELLING = {
    "init": f"`{START}`, once, before anything asks for a rank",
    "shutdown": "`shutdown_resource(npu_session, npu_shutdown)`, with what `init_resource()` gave",
    **{name: f"`{function}()`" for name, function in RANK_FUNCTIONS.items()},
    "DistributedOptimizer": "`npu_distributed_optimizer_wrapper(optimizer)`",
    "BroadcastGlobalVariablesHook": "`NPUBroadcastGlobalVariablesHook(0, get_npu_rank_id())`",
    "broadcast_global_variables": "`"
    + broadcast_text("0", "tf.global_variables()", " if variable.dtype.is_floating")
    + "`",
    "broadcast_variables": f"`{broadcast_text('0', 'variables')}`",
    "broadcast": "`hccl_ops.broadcast([tensor], root_rank)[0]`",
    "allreduce": '`npu_allreduce(tensor)` for the mean, `npu_allreduce(tensor, "sum")` for the sum',
    "allgather": "`hccl_ops.allgather(tensor, get_npu_rank_size())`",
    "callbacks.BroadcastGlobalVariablesCallback": "`NPUBroadcastGlobalVariablesCallback(0)`",
}

BY_HAND = {
    "_allreduce": 'write `npu_allreduce(tensor, reduction="sum")`: this one adds up',
    "alltoall": "use `hccl_ops.all_to_all_v(...)`, which wants the counts and displacements "
    "of both sides",
    "reducescatter": 'use `hccl_ops.reduce_scatter(tensor, "sum", get_npu_rank_size())`; the '
    "first dimension must divide by the number of devices, and the mean is a division",
    "grouped_allgather": "call `hccl_ops.allgather(tensor, get_npu_rank_size())` for each tensor",
    "grouped_reducescatter": 'call `hccl_ops.reduce_scatter(tensor, "sum", '
    "get_npu_rank_size())` for each tensor",
    "barrier": "run `npu_allreduce(tf.constant(0.0))` on every rank, which waits for all",
    "join": "HCCL has no `join`: give every rank the same number of steps, with an input that "
    "repeats or that drops what is left over",
    "allgather_object": "HCCL sends tensors only: write the object to a shared file per rank, or "
    "turn it into a tensor of one size for `hccl_ops.allgather`",
    "broadcast_object": "HCCL sends tensors only: let rank 0 write the object to a shared file, "
    "or turn it into a tensor for `hccl_ops.broadcast([tensor], 0)[0]`",
    "broadcast_object_fn": "HCCL sends tensors only: turn the object into a tensor for "
    "`hccl_ops.broadcast([tensor], 0)[0]`",
    "DistributedGradientTape": "tapes run eagerly, which the NPU does not: build a graph and use "
    "`npu_distributed_optimizer_wrapper(optimizer)`",
    "DistributedAdasumOptimizer": "HCCL has no Adasum: use "
    "`npu_distributed_optimizer_wrapper(optimizer)` and tune the learning rate again",
    "LocalGradientAggregationHelper": "sum the gradients of several steps in variables of your "
    "own, and reduce them with `npu_allreduce` when they are applied",
    "is_initialized": "HCCL cannot be asked this: keep what `init_resource()` gave, and test that",
    "is_homogeneous": "write `True`: every server of a rank table has equally many devices, or "
    "`False` if yours have not",
    "cross_rank": "write `get_npu_rank_id() // get_npu_local_rank_size()`",
    "cross_size": "write `get_npu_rank_size() // get_npu_local_rank_size()`",
    "start_timeline": "use the NPU's profiler: `profiling_mode` and `profiling_options` of the "
    "session",
    "stop_timeline": "use the NPU's profiler: `profiling_mode` and `profiling_options` of the "
    "session",
    "load_model": "use `tf.keras.models.load_model(...)` and compile again with "
    "`npu_distributed_optimizer_wrapper(model.optimizer)`",
    "run": "start one process per device with a rank table instead",
    "callbacks.MetricAverageCallback": "write a Keras callback that puts "
    "`npu_allreduce(tf.constant(value))`, run in the session, into `logs` at the end of an epoch; "
    "without it every rank reports its own share",
    "callbacks.LearningRateWarmupCallback": "use `tf.keras.callbacks.LearningRateScheduler` with "
    "`rate * (1 + epoch * (get_npu_rank_size() - 1) / warmup_epochs) / get_npu_rank_size()` while "
    "`epoch < warmup_epochs`, where `rate` is already multiplied by the number of devices",
    "callbacks.LearningRateScheduleCallback": "use `tf.keras.callbacks.LearningRateScheduler` "
    "with the rate times the multiplier of the epoch",
    "callbacks.BestModelCheckpoint": "use `tf.keras.callbacks.ModelCheckpoint(..., "
    "save_best_only=True)` where `get_npu_rank_id() == 0`",
}
_ELASTIC = (
    "HCCL has no elastic training: start with a fixed rank table, and continue from the newest "
    "checkpoint after a failure"
)


def by_hand(name: str) -> str:
    """What the user has to do about a member of Horovod that no edit replaces."""
    if name.startswith("elastic"):
        return _ELASTIC
    if name in BY_HAND:
        return BY_HAND[name]
    if name in SPELLING:
        return f"write {SPELLING[name]}"
    return f"HCCL has nothing for Horovod's `{name}`: do without it, or write it with `hccl_ops`"
