"""Runs one command of the user and lets nothing of it outlive the run; a program of its own.

Started by `start.py` as a file, with a description as JSON on its standard input, and answers
with the ending as JSON on its standard output. It is a process between us and the script because
on Linux a process can adopt what its descendants leave behind: children of children, those in
sessions of their own, and all of them when we are killed ourselves. It must not import anything
of the user, nor trainferry.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LOOK_SECONDS = 0.02
_GRACE_SECONDS = 3.0
_GIVE_UP_SECONDS = 10.0
_BLOCK = 1 << 16


class _StopAsked(Exception):  # noqa: N818  # it is no error
    """Whoever started us wants the command to end, or has ended."""


def main() -> None:
    task = json.loads(sys.stdin.read())
    _adopt_orphans()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a script that crashes leaves no core file
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _stop)
    if os.getppid() != task["parent"]:
        return  # it ended before we could ask to be told
    _answer(json.dumps(_run(task)).encode())


def _answer(text: bytes) -> None:
    """Tell how it ended; where we were killed ourselves, nobody reads it and nobody need know."""
    with contextlib.suppress(BrokenPipeError):
        while text:
            text = text[os.write(sys.stdout.fileno(), text) :]


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _stop(_number: int, _frame: object) -> None:
    raise _StopAsked


def _run(task: dict[str, Any]) -> dict[str, Any]:
    began = time.monotonic()
    ending: dict[str, Any] = {"code": None, "timed_out": False, "stopped": False, "error": None}
    log = Log(Path(task["output"]), task["output_limit_bytes"])
    child: subprocess.Popen[bytes] | None = None
    copier: threading.Thread | None = None
    try:
        child = subprocess.Popen(
            task["command"],
            cwd=task["folder"],
            env=task["environment"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert child.stdout is not None
        copier = threading.Thread(target=log.copy, args=(child.stdout,), daemon=True)
        copier.start()
        ending["timed_out"] = not _ended_within(child, began + task["timeout_seconds"])
        if ending["timed_out"]:
            _ask_to_end(child, signal.SIGABRT)
    except OSError as error:
        ending["error"] = f"{error.strerror}: {error.filename or task['command'][0]}"
    except _StopAsked:
        ending["stopped"] = True
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if child is not None:
            _ask_to_end(child, signal.SIGTERM)
    ending["seconds"] = time.monotonic() - began
    ending["left_behind"] = _end_descendants(child)
    if child is not None:
        ending["code"] = child.poll()
    if copier is not None:
        copier.join(1)  # all writers are gone
    ending["output_bytes"] = log.close()
    return ending


def _ended_within(child: subprocess.Popen[bytes], deadline: float) -> bool:
    while child.poll() is None:
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


def _ask_to_end(child: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal first; after SIGABRT, Python's fault handler prints where each thread was."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
    _ended_within(child, time.monotonic() + _GRACE_SECONDS)


def _end_descendants(child: subprocess.Popen[bytes] | None) -> int:
    """Kill whatever is left; return how many processes besides the command itself that were."""
    seen: set[int] = set()
    deadline = time.monotonic() + _GIVE_UP_SECONDS
    while found := _descendants():
        for pid in found:  # first stop them all: they cannot start others while we go through
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGSTOP)
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        seen |= found
        _collect(child)
        if time.monotonic() > deadline:
            break
        time.sleep(_LOOK_SECONDS)
    return len(seen - ({child.pid} if child is not None else set()))


def _collect(child: subprocess.Popen[bytes] | None) -> None:
    """Take the ends of adopted processes; that of the command itself is for `child.poll`."""
    for pid in _descendants(ended=True):
        if child is not None and pid == child.pid:
            child.poll()
            continue
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _descendants(*, ended: bool = False) -> set[int]:
    """Processes below this one; those that ended and wait to be collected only if asked for."""
    parents: dict[int, int] = {}
    zombies: set[int] = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended while we looked
            # The name, in brackets, may hold anything; state and parent follow it.
            state, parent = path.read_bytes().rpartition(b")")[2].split()[:2]
            pid = int(path.parent.name)
            parents[pid] = int(parent)
            if state in (b"Z", b"X"):
                zombies.add(pid)
    own = {os.getpid()}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in own and pid not in own}
        own |= more
        grown = bool(more)
    own.discard(os.getpid())
    return own & zombies if ended else own - zombies


class Log:
    """A file that keeps the beginning and the end of an output of any size."""

    def __init__(self, path: Path, limit_bytes: int) -> None:
        self._file = path.open("wb", buffering=0)
        self._head_left = limit_bytes // 2
        self._tail_limit = limit_bytes - limit_bytes // 2
        self._tail = bytearray()
        self._total = 0
        self._lock = threading.Lock()

    def copy(self, stream: IO[bytes]) -> None:
        while block := os.read(stream.fileno(), _BLOCK):
            with self._lock:
                self._total += len(block)
                head, rest = block[: self._head_left], block[self._head_left :]
                if head and not self._file.closed:
                    self._file.write(head)
                    self._head_left -= len(head)
                self._tail += rest
                if len(self._tail) > 2 * self._tail_limit:
                    del self._tail[: -self._tail_limit]

    def close(self) -> int:
        """Write the end; return how much there was."""
        with self._lock:
            left_out = max(0, len(self._tail) - self._tail_limit)
            end = self._tail[left_out:]
            skipped = self._total - self._file.tell() - len(end)
            if skipped > 0:
                self._file.write(f"\n... {skipped} bytes left out ...\n".encode())
            self._file.write(end)
            self._file.close()
            return self._total


if __name__ == "__main__":
    main()
