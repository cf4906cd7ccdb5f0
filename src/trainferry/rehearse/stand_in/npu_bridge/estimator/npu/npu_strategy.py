"""Stands in for the strategy that counts all ranks as replicas and gives each its share."""

from tensorflow.python.distribute import distribute_lib, one_device_strategy

from trainferry_stand_in import ranks


class NPUExtended(one_device_strategy.OneDeviceExtended):
    """One device in this process; datasets are shared among the ranks."""

    def __init__(self, container_strategy, device):
        super().__init__(container_strategy, device)

    @property
    def _num_replicas_in_sync(self):
        return ranks.world_size()

    def _make_dataset_iterator(self, dataset):
        return super()._make_dataset_iterator(_share(dataset))

    def _experimental_distribute_dataset(self, dataset, *options):
        return super()._experimental_distribute_dataset(_share(dataset), *options)


class NPUStrategy(distribute_lib.StrategyV1):
    """Every rank is one replica; gradients are averaged by wrapped optimizers, not by this."""

    def __init__(self, device="/cpu:0"):
        super().__init__(NPUExtended(self, device))


def _share(dataset):
    if ranks.world_size() == 1:
        return dataset
    return dataset.shard(ranks.world_size(), ranks.world_rank())
