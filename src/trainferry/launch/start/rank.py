"""The first program of each rank: opens its log, and becomes or watches the command.

Run as a file, with the standard library alone, so that it starts fast and whatever lies in the
user's folder is not imported. TRAINFERRY_LOG is the log; TRAINFERRY_SHOW, if it is there, shows
the output live as well, with its value before each line. The command dies with the launcher.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from typing import IO, NoReturn

_PR_SET_PDEATHSIG = 1
_MISSING = 127  # what shells say of a command that is not there


def main(command: list[str]) -> NoReturn:
    """Become `command`, or run it and show what it prints."""
    log = os.open(os.environ.pop("TRAINFERRY_LOG"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    prefix = os.environ.pop("TRAINFERRY_SHOW", None)
    launcher = int(os.environ.pop("TRAINFERRY_LAUNCHER"))
    die_with_parent()
    if os.getppid() != launcher:
        os.kill(os.getpid(), signal.SIGKILL)  # it ended before we could ask to die with it
    if prefix is None:
        os.dup2(log, 1)
        os.dup2(log, 2)
        _become(command)
    _end_as(_run_shown(command, log, prefix.encode()))


def die_with_parent() -> None:
    """Ask Linux to kill this process when the one that started it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _become(command: list[str]) -> NoReturn:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python ignores these, and it would be inherited
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, _cannot_start(command[0], error))
        os._exit(_MISSING)


def _run_shown(command: list[str], log: int, prefix: bytes) -> int:
    # Signals to the group reach the command itself; this process ends after it.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    try:
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=_as_before,  # noqa: PLW1509  # there is no other thread yet
        )
    except OSError as error:
        message = _cannot_start(command[0], error)
        os.write(log, message)
        os.write(2, prefix + message)
        return _MISSING
    assert child.stdout is not None
    assert child.stderr is not None
    copiers = [
        threading.Thread(target=_copy, args=(stream, log, place, prefix), daemon=True)
        for stream, place in ((child.stdout, 1), (child.stderr, 2))
    ]
    for copier in copiers:
        copier.start()
    code = child.wait()
    for copier in copiers:
        copier.join(5)  # a process that the command left behind may hold the stream open
    return code


def _cannot_start(program: str, error: OSError) -> bytes:
    why = error.strerror or str(error)
    if error.errno == errno.ENOEXEC:
        why += "; a script needs a first line such as #!/bin/bash"
    elif error.errno == errno.ENOENT and shutil.which(program):
        why = "the program that its first line names is not there (or that line ends in CR LF)"
    return f"cannot start {program}: {why}\n".encode("utf-8", "surrogateescape")


def _as_before() -> None:
    """In the child: take signals again, and die with this process."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    die_with_parent()


def _copy(stream: IO[bytes], log: int, place: int, prefix: bytes) -> None:
    """Whole lines where they get a prefix, else what comes as it comes."""
    while block := stream.readline() if prefix else os.read(stream.fileno(), 1 << 16):
        os.write(log, block)
        with contextlib.suppress(OSError):  # who reads the launcher may have gone; the log stays
            os.write(place, prefix + block)


def _end_as(code: int) -> NoReturn:
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
