"""Stands in for the hooks of the NPU."""

import os

import tensorflow as tf

from trainferry_stand_in import loops, ranks, state
from trainferry_stand_in.broadcast import broadcast_in_place
from trainferry_stand_in.errors import RefusedValue


class NPUShutDownHook(tf.train.SessionRunHook):
    """Ends collective communication with the session."""

    def __init__(self, scaffold=None):
        self._scaffold = scaffold

    def end(self, session):
        state.stop()


class NPUBroadcastGlobalVariablesHook(tf.train.SessionRunHook):
    """Gives every rank the trainable variables of the root, once a session is made."""

    def __init__(self, root_rank=None, index=None):
        self._root_rank = 0 if root_rank is None else root_rank
        self._index = index
        self._broadcast = None

    def begin(self):
        if ranks.world_size() > 1:
            self._broadcast = broadcast_global_variables(self._root_rank)

    def after_create_session(self, session, coord):
        if self._broadcast is not None:
            session.run(self._broadcast)


class NPUCheckpointSaverHook(tf.train.CheckpointSaverHook):
    """Saves by steps or seconds, as the hook of TensorFlow does."""

    def __init__(
        self,
        checkpoint_dir,
        save_secs=None,
        save_steps=None,
        saver=None,
        checkpoint_basename="model.ckpt",
        scaffold=None,
        listeners=None,
    ):
        super().__init__(
            checkpoint_dir,
            save_secs=save_secs,
            save_steps=save_steps,
            saver=saver,
            checkpoint_basename=checkpoint_basename,
            scaffold=scaffold,
            listeners=listeners,
        )


class SetIterationsVarHook(tf.train.SessionRunHook):
    """Lets every run of the train operator, named `IterationOp`, be several steps."""

    def __init__(self, iterations_per_loop=None):
        self._steps = 1 if iterations_per_loop is None else iterations_per_loop
        loops.check_steps(self._steps)

    def begin(self):
        for name in loops.NAMES:
            loops.loop_variable(name)

    def after_create_session(self, session, coord):
        loops.load_loop(session, self._steps)


def broadcast_global_variables(root_rank):
    """An operator that gives every rank the trainable variables of the root."""
    variables = tf.trainable_variables()
    return tf.group(*broadcast_in_place(variables, root_rank, ranks.WORLD))


class NPULogOutfeedSessionHook(tf.train.SessionRunHook):
    """Prints what the device prints; here `tf.print` prints by itself."""

    def __init__(self, output_stream):
        self._output_stream = output_stream


class NPUInfeedOutfeedSessionHook(tf.train.SessionRunHook):
    """Runs what takes tensors from a channel of the device, beside every step."""

    def __init__(self, dequeue_ops, channel_name):
        self._dequeue_ops = dequeue_ops
        self._channel_name = channel_name

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._dequeue_ops)


class NPUOutputTensorHook(tf.train.LoggingTensorHook):
    """Calls `output_fn` with the tensors of every few steps."""

    def __init__(self, tensors, dependencies=None, output_fn=None, output_every_n_steps=0):
        if output_fn is not None and not callable(output_fn):
            raise RefusedValue("`output_fn` must be a function")
        self._collected = []
        self._output_fn = output_fn
        self._every = output_every_n_steps
        self._named = tensors if isinstance(tensors, dict) else {item: item for item in tensors}
        after = [] if dependencies is None else dependencies
        after = after if isinstance(after, (list, tuple)) else [after]
        with tf.control_dependencies(list(after)):
            read = {name: tf.identity(tensor) for name, tensor in self._named.items()}
        super().__init__(read, every_n_iter=output_every_n_steps or 1)

    def after_run(self, run_context, run_values):
        if self._should_trigger:
            self._collected.append(run_values.results)
            self._timer.update_last_triggered_step(self._iter_count)
            self._give()
        self._iter_count += 1

    def end(self, session):
        if self._collected:
            self._give()

    def _give(self):
        if self._output_fn is not None:
            self._output_fn(self._collected)
        self._collected = []


class TellMeStepOrLossHook(tf.train.SessionRunHook):
    """Tells the adapter how far training is, through the environment, for accelerated training."""

    def __init__(self, step=None, total_step=None, loss=None, final_loss=None):
        by_step = step is not None and total_step is not None
        by_loss = loss is not None and final_loss is not None
        if by_step == by_loss:
            raise RefusedValue("give `step` and `total_step`, or `loss` and `final_loss`")
        self._tensor = step if by_step else loss
        self._variable = "STEP_NOW" if by_step else "LOSS_NOW"
        os.environ["TOTAL_STEP" if by_step else "TARGET_LOSS"] = str(
            total_step if by_step else final_loss
        )

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._tensor)

    def after_run(self, run_context, run_values):
        os.environ[self._variable] = str(run_values.results)
