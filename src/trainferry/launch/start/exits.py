"""Sees ranks end at the moment they do, and lets nothing that they started outlive them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Exit:
    """A rank's process has ended. `code` is negative for a signal."""

    local_rank: int
    code: int
    moment: float


class Exits:
    """Watches processes, one thread each: looking now and then would not tell who was first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: list[Exit] = []
        self._threads: list[threading.Thread] = []

    def watch(self, local_rank: int, pid: int) -> None:
        arguments = (local_rank, pid)
        thread = threading.Thread(target=self._wait, args=arguments, daemon=True, name="exits")
        thread.start()
        self._threads.append(thread)

    def first_failure(self) -> Exit | None:
        """The rank that ended with an error before all others; None while there is none."""
        with self._lock:
            failed = [one for one in self._found if one.code]
        return min(failed, key=lambda one: one.moment, default=None)

    def are_all_seen(self) -> bool:
        """Whether all ranks have ended, with an error or without."""
        return not any(thread.is_alive() for thread in self._threads)

    def _wait(self, local_rank: int, pid: int) -> None:
        code = _wait_for(pid)
        moment = time.monotonic()
        if code is not None:
            with self._lock:
                self._found.append(Exit(local_rank, code, moment))


def _wait_for(pid: int) -> int | None:
    """Return how a child ends, and leave it to be collected; None if its owner did so before."""
    try:
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:
        return None
    assert ended is not None  # only WNOHANG would return without one
    killed = ended.si_code in (os.CLD_KILLED, os.CLD_DUMPED)
    return -ended.si_status if killed else ended.si_status


def adopt_orphans() -> None:
    """Become the parent of whatever ranks leave behind, so that `end_orphans` can find it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_orphans(ranks: list[int], others: frozenset[int]) -> None:
    """Kill what ended ranks left: members of their groups, and children that came to us.

    `others` are children of this process from before it started any rank.
    """
    for pid in ranks:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while found := own_children() - others - frozenset(ranks):
        for pid in found:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
        if time.monotonic() > deadline:
            return
        time.sleep(0.02)


def own_children() -> frozenset[int]:
    """The processes whose parent is this one; ended ones too, until they are collected."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended while we looked
            # The name, in brackets, may hold anything; the parent is the second field after it.
            if int(path.read_bytes().rpartition(b")")[2].split()[1]) == os.getpid():
                found.add(int(path.parent.name))
    return frozenset(found)
