"""Stands in for the Keras callback that starts all ranks with the same values."""

import tensorflow as tf

from npu_bridge.estimator.npu.npu_hook import broadcast_global_variables as _broadcast
from trainferry_stand_in import ranks


def broadcast_global_variables(root_rank):
    """An operator that gives every rank the trainable variables of the root."""
    return _broadcast(root_rank)


class BroadcastGlobalVariablesCallbackImpl:
    """Gives every rank the values of the root, before the first batch."""

    def __init__(self, root_rank, *args):
        super().__init__(*args)
        self.root_rank = root_rank
        self.broadcast_done = False

    def on_batch_begin(self, batch, logs=None):
        if self.broadcast_done or ranks.world_size() == 1:
            return
        tf.keras.backend.get_session().run(broadcast_global_variables(self.root_rank))
        self.broadcast_done = True


class NPUBroadcastGlobalVariablesCallback(
    BroadcastGlobalVariablesCallbackImpl, tf.keras.callbacks.Callback
):
    """Gives every rank the values of the root, before the first batch."""

    def __init__(self, root_rank):
        super().__init__(root_rank)
