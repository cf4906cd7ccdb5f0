"""Runs of our own in the user's sessions: they are not watched."""

import contextlib
import threading

from tensorflow.python.client import session as client

_local = threading.local()
# As TensorFlow made it: the stand-in puts loops and plans around it.
_run = client.BaseSession.run


def is_own_call():
    return getattr(_local, "own", False)


@contextlib.contextmanager
def own_call():
    """Within this, sessions run as if nobody watched."""
    before = is_own_call()
    _local.own = True
    try:
        yield
    finally:
        _local.own = before


def read(session, fetches, feed_dict=None):
    """Run `fetches` unseen."""
    with own_call():
        return _run(session, fetches, feed_dict)
