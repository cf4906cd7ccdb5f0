"""`horovod.keras` for one process."""

import tensorflow as tf

from ..tensorflow import (
    Adasum,
    Average,
    Compression,
    DistributedOptimizer,
    Sum,
    allgather,
    allreduce,
    broadcast,
    broadcast_global_variables,
    init,
    is_initialized,
    local_rank,
    local_size,
    rank,
    shutdown,
    size,
)
from . import callbacks


def load_model(filepath, custom_optimizers=None, custom_objects=None, **more):
    known = {one.__name__: one for one in custom_optimizers or ()}
    return tf.keras.models.load_model(
        filepath, custom_objects=dict(known, **(custom_objects or {}))
    )
