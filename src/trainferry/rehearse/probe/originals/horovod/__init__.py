"""Horovod for one process, which is what an original runs as in a rehearsal.

With one process sums, averages and broadcasts change nothing: an original trains as it does with
`horovodrun -np 1`. What would change something there too is refused by name.
"""

import os
import sys

__version__ = "0.0+trainferry"
NOTE = "horovod is not installed; the original ran with a stand-in for one process"


class NotInStandIn(NotImplementedError):
    """A part of Horovod that has no stand-in."""

    def __init__(self, name):
        super().__init__(f"`{name}` has no stand-in: install horovod in this interpreter")


def _tell():
    """Say it in the output, and to the rehearsal."""
    sys.stderr.write(f"trainferry rehearse: {NOTE}\n")
    path = os.environ.get("TRAINFERRY_ORIGINAL")
    if path:
        with open(path, "a", encoding="utf-8") as notes:
            notes.write(NOTE + "\n")


_tell()
