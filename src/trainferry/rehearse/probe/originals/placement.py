"""Lets an original run that asks for GPUs: its operators go to what this machine has.

The adapter of the NPU does the same in every session of a migrated project.
"""

import functools

from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import session as client


def place_softly():
    """Let all sessions choose another device; the configuration that they show stays as it was."""
    create = client.tf_session.TF_NewSessionOptions

    @functools.wraps(create)
    def new_session_options(target=None, config=None):
        soft = config_pb2.ConfigProto()
        if config is not None:
            soft.CopyFrom(config)
        soft.allow_soft_placement = True
        return create(target=target, config=soft)

    client.tf_session.TF_NewSessionOptions = new_session_options
