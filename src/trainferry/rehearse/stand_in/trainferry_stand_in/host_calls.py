"""Summaries that the device sends home every step, here run on the host."""

import tensorflow as tf
from tensorflow.python.ops import summary_ops_v2

from trainferry_stand_in.errors import RefusedType


def check_host_call(host_call):
    """A host call is a function and the tensors it is called with."""
    good = isinstance(host_call, tuple) and len(host_call) == 2 and callable(host_call[0])
    if not good or not isinstance(host_call[1], (list, tuple, dict)):
        raise RefusedType(
            "`host_call` is a tuple of a function and a list or dictionary of tensors, "
            f"not {host_call!r}"
        )


class HostCallHook(tf.train.SessionRunHook):
    """Runs the operators of a host call beside every step."""

    def __init__(self, host_call):
        function, tensors = host_call
        made = function(**tensors) if isinstance(tensors, dict) else function(*tensors)
        if made is None:
            raise RefusedType("the function of `host_call` must give back a list of tensors")
        self._operators = [made] if hasattr(made, "op") or hasattr(made, "inputs") else list(made)
        name = getattr(summary_ops_v2, "_SUMMARY_WRITER_INIT_COLLECTION_NAME", None)
        self._start = tf.get_collection(name) if name else []

    def after_create_session(self, session, coord):
        if self._start:
            session.run(self._start)

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._operators)
