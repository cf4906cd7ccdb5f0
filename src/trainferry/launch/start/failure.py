"""What became of a rank that failed, in words and as an exit status."""

from __future__ import annotations

import re
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

_MOST_BYTES = 64 << 10
_MOST_CHARACTERS = 400
_LEAST_FREE_BYTES = 1 << 20
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


WRONG_USAGE = 2
"""What programs end with that do not understand their command: the next start would, too."""


@dataclass(frozen=True)
class RankFailure:
    """A rank that ended with an error. `code` is negative for a signal, as in subprocess.

    `machine` is empty where there is only one. `explained` are lines on a code in its log.
    """

    rank: int
    machine: str
    code: int
    log: str
    last_lines: tuple[str, ...] = ()
    explained: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """The exit status that a shell would see."""
        return self.code if self.code > 0 else 128 - self.code

    @property
    def how(self) -> str:
        """`exit code 3`, or `signal SIGKILL`."""
        if self.code > 0:
            return f"exit code {self.code}"
        return f"signal {signal_name(-self.code)}"

    @property
    def was_killed(self) -> bool:
        """Whether it got SIGKILL, which nothing sends to itself; 137 is what shells make of it."""
        return self.status == 128 + signal.SIGKILL

    def sentence(self) -> str:
        where = f" on {self.machine}" if self.machine else ""
        return f"rank {self.rank}{where} failed with {self.how}"


def signal_name(number: int) -> str:
    """`SIGKILL`, or the bare number where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def is_full(log: str) -> bool:
    """Whether the disk that a log is on has no space left; False if it cannot be told here."""
    try:
        return shutil.disk_usage(Path(log).parent).free < _LEAST_FREE_BYTES
    except OSError:
        return False  # the log is on another machine


def last_lines(path: Path, most: int = 20) -> tuple[str, ...]:
    """The end of a log; bytes that are no text are shown as escapes."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _MOST_BYTES))
            text = file.read().decode(errors="backslashreplace")
    except FileNotFoundError:
        return ()
    lines = text.removesuffix("\n").split("\n") if text else []
    return tuple(_as_seen(line) for line in lines[-most:])


def _as_seen(line: str) -> str:
    """What a terminal leaves of a line that a progress bar writes again and again.

    Colours are left out; other control characters, which could move or hide text, are escaped.
    """
    last = _COLOUR.sub("", line).rstrip("\r").rpartition("\r")[2]
    shown = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", last)
    if len(shown) <= _MOST_CHARACTERS:
        return shown
    return f"{shown[:_MOST_CHARACTERS]} …"
