"""Begins to watch, in the order that the parts need."""

import os
import sys

from . import device, ending, gentle_stops, losses, sessions
from .facts_file import open_facts, write_fact
from .places import script_folder


def install_all(tensorflow):
    """Open the facts of this process and patch TensorFlow."""
    from tensorflow.python.framework import versions

    open_facts()
    write_fact(
        "start",
        tensorflow=versions.VERSION,
        python="{}.{}.{}".format(*sys.version_info[:3]),
        argv=sys.argv,
        rank=int(os.environ.get("RANK_ID") or 0),
        ranks=int(os.environ.get("RANK_SIZE") or 1),
        folder=script_folder(),
        process=os.getpid(),
    )
    losses.install()
    sessions.install()
    gentle_stops.install()
    device.install()
    ending.install()
