"""Teaches the training loops of TensorFlow to stop when all steps of the rehearsal are done."""

import functools

from tensorflow.python.training import monitored_session, supervisor

from ..after_import import call_after_import
from . import limit

_KERAS = ("tensorflow.python.keras.callbacks", "keras.src.callbacks", "keras.callbacks")
_RUNS = "_trainferry_runs_after_training"


def install():
    """Patch the loops; those of Keras when they are imported."""
    monitored = monitored_session._MonitoredSession
    monitored.should_stop = _monitored_should_stop(monitored.should_stop)
    monitored.run = _counting(monitored.run)
    supervisor.Supervisor.should_stop = _supervisor_should_stop(supervisor.Supervisor.should_stop)
    for name in _KERAS:
        call_after_import(name, _patch_keras)


def _monitored_should_stop(original):
    @functools.wraps(original)
    def should_stop(self):
        if original(self):
            return True
        if not limit.is_reached():
            return False
        # Evaluation goes on after training, but not longer than training did.
        if not limit.has_trained(self.graph) and getattr(self, _RUNS, 0) < limit.steps():
            return False
        limit.stop_was_forced()
        return True

    return should_stop


def _counting(original):
    @functools.wraps(original)
    def run(self, *args, **kwargs):
        if limit.is_reached():
            setattr(self, _RUNS, getattr(self, _RUNS, 0) + 1)
        return original(self, *args, **kwargs)

    return run


def _supervisor_should_stop(original):
    @functools.wraps(original)
    def should_stop(self):
        if original(self):
            return True
        if limit.is_reached():
            limit.stop_was_forced()
        return limit.is_reached()

    return should_stop


def _patch_keras(module):
    batches = getattr(module, "CallbackList", None)
    if batches is None or hasattr(batches, "_trainferry"):
        return
    batches._trainferry = True
    name = "_call_batch_hook" if hasattr(batches, "_call_batch_hook") else "on_batch_end"
    setattr(batches, name, _stopping(getattr(batches, name)))


def _stopping(original):
    @functools.wraps(original)
    def hook(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        if limit.is_reached() and self.model is not None and not self.model.stop_training:
            limit.stop_was_forced()
            self.model.stop_training = True
        return result

    return hook
