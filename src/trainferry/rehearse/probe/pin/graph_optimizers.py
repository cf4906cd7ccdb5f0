"""Runs graphs as they were written, in all runs that are compared.

An adapter's configuration turns some of TensorFlow's graph optimizers off and others stay on; the
same sum is then added up in another order. In a deep network the last digits grow within a few
steps to differences that look like another computation.
"""

import functools

from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import session as client


def pin():
    """Let no optimizer change a graph; the configuration that a session shows stays as it was."""
    create = client.tf_session.TF_NewSessionOptions

    @functools.wraps(create)
    def new_session_options(target=None, config=None):
        return create(target=target, config=_without_optimizers(config))

    client.tf_session.TF_NewSessionOptions = new_session_options


def _without_optimizers(config):
    pinned = config_pb2.ConfigProto()
    if config is not None:
        pinned.CopyFrom(config)
    pinned.graph_options.rewrite_options.disable_meta_optimizer = True
    pinned.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
    return pinned
