"""Leaves out what a thread of TensorFlow's does by the clock.

A supervisor, slim's too, reads a batch for summaries now and then; training does not see that
batch, and which one it is depends on how fast the machine is.
"""

from tensorflow.python.training import supervisor


def pin():
    """Let no summaries be written by the clock."""
    supervisor.SVSummaryThread.run_loop = _leave_out


def _leave_out(thread):
    """The thread goes on, and ends with the training."""
