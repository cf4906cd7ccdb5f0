"""Processes that read data end when their rank wants it, not when a signal meets all of them."""

from __future__ import annotations

import os
import signal
import threading


def heed_parent_alone() -> None:
    """Let SIGTERM end this process only if its parent sends it, and Ctrl-C not at all.

    Launchers, schedulers and terminals send them to all processes of a job. A rank that hears one
    still finishes its step, for which it may need one more batch.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Blocked first: threads that start later inherit it, and only a blocked signal can be awaited.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    threading.Thread(target=_await_parent, daemon=True, name="signals").start()


def _await_parent() -> None:
    while signal.sigwaitinfo({signal.SIGTERM}).si_pid != os.getppid():
        continue
    os._exit(0)
