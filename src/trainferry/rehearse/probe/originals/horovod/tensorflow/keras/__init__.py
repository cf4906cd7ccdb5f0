"""`horovod.tensorflow.keras` for one process."""

from ...keras import callbacks, load_model
from .. import (
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
