"""`tf.contrib.distribute`: strategies, with the names of arguments that they had."""

import tensorflow.compat.v1 as tf
from tensorflow.python.distribute.cross_device_ops import (
    AllReduceCrossDeviceOps,
    CrossDeviceOps,
)

DistributionStrategy = tf.distribute.Strategy
OneDeviceStrategy = tf.distribute.OneDeviceStrategy
ReplicaContext = tf.distribute.ReplicaContext
AllReduceCrossTowerOps = AllReduceCrossDeviceOps
get_distribution_strategy = get_strategy = tf.distribute.get_strategy
get_loss_reduction = tf.distribute.get_loss_reduction
get_replica_context = tf.distribute.get_replica_context
has_distribution_strategy = has_strategy = tf.distribute.has_strategy
in_cross_replica_context = tf.distribute.in_cross_replica_context


class MirroredStrategy(tf.distribute.MirroredStrategy):
    """One copy of the model per device of this machine."""

    def __init__(
        self,
        devices=None,
        num_gpus=None,
        num_gpus_per_worker=None,
        cross_device_ops=None,
        auto_shard_dataset=False,
        cross_tower_ops=None,
    ):
        count = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is None and count is not None:
            devices = [f"/device:GPU:{number}" for number in range(count)]
        super().__init__(devices or None, cross_device_ops or cross_tower_ops)


class CollectiveAllReduceStrategy(tf.distribute.experimental.MultiWorkerMirroredStrategy):
    """One copy of the model per device of several machines."""

    def __init__(self, num_gpus_per_worker=0):
        super().__init__()


class ParameterServerStrategy(tf.distribute.experimental.ParameterServerStrategy):
    """Workers, and servers that hold the weights."""

    def __init__(self, num_gpus_per_worker=0):
        super().__init__()
