"""Runs a script of the user in the user's interpreter, within limits; tells how it ended."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainferry.errors import RehearsalError

HERE = Path(__file__).resolve().parent
ENTRY = HERE / "probe" / "entry"
STAND_IN = HERE / "stand_in"
_KEEPER = HERE / "keeper.py"
_MARK = "TRAINFERRY_REHEARSAL"
# They decide how another Python starts, and were set for ours.
_OURS = ("PYTHONHOME", "PYTHONSTARTUP", "PYTHONEXECUTABLE", "PYTHONSAFEPATH", "__PYVENV_LAUNCHER__")
_SHOWN_BYTES = 16_000
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Limits:
    """What a script may use."""

    timeout_seconds: float = 600.0
    output_limit_bytes: int = 64 << 20


@dataclass(frozen=True)
class Ending:
    """How a script ended."""

    code: int | None
    """Its exit status; None if a signal ended it or it could not be started."""
    signal: int | None
    timed_out: bool
    stopped: bool
    """We ended it, because another rank failed or the user asked."""
    error: str | None
    """Why it could not be started, or not be watched to its end."""
    seconds: float
    output: Path
    output_bytes: int
    """All that it printed; the file may hold less."""
    left_behind: int
    """Processes that it had started and that we ended after it."""
    last_lines: tuple[str, ...] = field(repr=False, default=())

    @property
    def is_good(self) -> bool:
        return self.code == 0 and not (self.timed_out or self.stopped or self.error)

    def __str__(self) -> str:
        if self.error:
            return self.error
        if self.timed_out:
            return f"was still running after {self.seconds:.0f} s and was ended"
        if self.stopped:
            return f"was ended after {self.seconds:.0f} s"
        if self.signal is not None:
            return f"was ended by {_signal_name(self.signal)} after {self.seconds:.0f} s"
        return f"ended with exit status {self.code} after {self.seconds:.0f} s"


class Script:
    """A script that runs. Whoever starts it must stay alive: it is ended with that thread."""

    def __init__(self, keeper: subprocess.Popen[bytes], output: Path, mark: str) -> None:
        self._keeper = keeper
        self._output = output
        self._mark = mark
        self._started = time.monotonic()
        self._ending: Ending | None = None

    def poll(self) -> Ending | None:
        """How it ended; None while it runs."""
        if self._ending is None and self._keeper.poll() is not None:
            self._ending = self._read_ending()
        return self._ending

    def wait(self) -> Ending:
        """Wait for its end; when that is interrupted, end it first."""
        try:
            self._keeper.wait()
        except BaseException:
            self.stop()
            raise
        return self._ended()

    def stop(self) -> Ending:
        """End it and everything that it started."""
        if self._keeper.poll() is None:
            self._keeper.terminate()
            self._keeper.wait()
        return self._ended()

    def _ended(self) -> Ending:
        ending = self.poll()
        assert ending is not None
        return ending

    def _read_ending(self) -> Ending:
        assert self._keeper.stdout is not None
        with self._keeper.stdout as stream:
            text = stream.read()
        try:
            told = json.loads(text)
        except ValueError:
            _end_marked(self._mark)
            told = self._without_keeper()
        code = told.pop("code")
        return Ending(
            code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            output=self._output,
            last_lines=read_end(self._output),
            **told,
        )

    def _without_keeper(self) -> dict[str, Any]:
        return {
            "code": None,
            "timed_out": False,
            "stopped": False,
            "error": "ended the process that watched it, and was ended",
            "seconds": time.monotonic() - self._started,
            "left_behind": 0,
            "output_bytes": self._output.stat().st_size if self._output.exists() else 0,
        }


def start_script(
    command: Sequence[str | Path],
    *,
    folder: Path,
    environment: Mapping[str, str],
    output: Path,
    limits: Limits | None = None,
) -> Script:
    """Start `command` in `folder`; what it prints goes to the file `output`."""
    limits = limits or Limits()
    mark = uuid.uuid4().hex
    task = {
        "parent": os.getpid(),
        "command": [str(part) for part in command],
        "folder": str(folder),
        "environment": {**environment, _MARK: mark},
        "output": str(output),
        "timeout_seconds": limits.timeout_seconds,
        "output_limit_bytes": limits.output_limit_bytes,
    }
    if not folder.is_dir():
        raise RehearsalError(
            f"the folder {folder} to run in does not exist",
            hint="give the project's folder, or the one that its script expects to run in",
        )
    keeper = subprocess.Popen(
        [sys.executable, "-I", str(_KEEPER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert keeper.stdin is not None
    with keeper.stdin as stream:
        stream.write(json.dumps(task).encode())
    return Script(keeper, output, mark)


def run_script(
    command: Sequence[str | Path],
    *,
    folder: Path,
    environment: Mapping[str, str],
    output: Path,
    limits: Limits | None = None,
) -> Ending:
    """Start `command` and wait for its end."""
    return start_script(
        command, folder=folder, environment=environment, output=output, limits=limits
    ).wait()


def script_environment(
    on_path: Sequence[Path], scratch: Path, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment of a script: ours, with `on_path` before the user's own PYTHONPATH.

    `on_path` holds ENTRY, and STAND_IN for a migrated project; `more` is for instance the
    environment of a rank. Temporary files go to `scratch`, and no byte code is left in projects.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _OURS}
    theirs = environment.get("PYTHONPATH")
    paths = [str(path) for path in on_path] + ([theirs] if theirs else [])
    environment.update(
        PYTHONPATH=os.pathsep.join(paths),
        PYTHONUNBUFFERED="1",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONIOENCODING="utf-8",
        PYTHONFAULTHANDLER="1",
        TMPDIR=str(scratch),
        CUDA_VISIBLE_DEVICES="-1",
    )
    environment.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    environment.update(more or {})
    return environment


def read_end(path: Path, lines: int = 40) -> tuple[str, ...]:
    """The last lines of a file, without the codes that colour a terminal's text."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _SHOWN_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ()
    plain = _TERMINAL_CODE.sub("", text).replace("\r", "\n")
    shown = "".join(letter for letter in plain if letter.isprintable() or letter in "\n\t")
    return tuple(line for line in shown.split("\n") if line.strip())[-lines:]


def _end_marked(mark: str) -> None:
    """Kill the processes that carry `mark` in their environment."""
    wanted = f"{_MARK}={mark}".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)
        except (OSError, ProcessLookupError):
            continue  # it ended while we looked, or is somebody else's


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
