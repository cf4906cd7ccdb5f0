"""Callbacks of Horovod that do nothing with one process, and a refusal of the one that would."""

import tensorflow as tf

from .. import NotInStandIn


class BroadcastGlobalVariablesCallback(tf.keras.callbacks.Callback):
    """Sends weights to nobody."""

    def __init__(self, root_rank, device=""):
        super().__init__()


class MetricAverageCallback(tf.keras.callbacks.Callback):
    """The average over one."""

    def __init__(self, device=""):
        super().__init__()


class LearningRateWarmupCallback(tf.keras.callbacks.Callback):
    """Rises from the rate of one process to that of all: here they are the same."""

    def __init__(self, *args, **kwargs):
        super().__init__()


class LearningRateScheduleCallback(tf.keras.callbacks.Callback):
    """Changes the rate with one process too."""

    def __init__(self, *args, **kwargs):
        raise NotInStandIn("hvd.callbacks.LearningRateScheduleCallback")
