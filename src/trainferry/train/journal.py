"""What happens in a run, as events, and the file that keeps them: one JSON object a line."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from trainferry.train.data.whole_file import explain_write_errors
from trainferry.train.tasks.task import Example


@dataclass(frozen=True)
class Started:
    """A run begins or goes on."""

    step: int
    steps: int
    device: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Logged:
    """How training went since the last such event."""

    step: int
    loss: float
    learning_rate: float
    images_per_second: float
    waiting_share: float  # of the time, for data
    seconds_left: float
    loss_scale: float = 1.0
    overflows: int = 0
    skipped: int = 0  # samples that could not be read


@dataclass(frozen=True)
class Evaluated:
    """Scores on the validation set."""

    step: int
    scores: Mapping[str, float]
    best: bool
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class Saved:
    """A checkpoint is on disk."""

    step: int
    path: str


@dataclass(frozen=True)
class Said:
    """Something the user should read."""

    step: int
    text: str


@dataclass(frozen=True)
class Ended:
    """Training is over. `cpu_operators` ran on the CPU beside an NPU; None if nobody knows."""

    step: int
    reason: str
    seconds: float
    cpu_operators: tuple[str, ...] | None = ()


Event = Started | Logged | Evaluated | Saved | Said | Ended


class Journal:
    """Appends events to `journal.jsonl`; a line cut off by a crash is closed first."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "journal.jsonl"
        with explain_write_errors(self._path):
            self._file = self._path.open("ab", buffering=0)
        if self._file.tell() and not _ends_a_line(self._path):
            self._append(b"\n")

    def write(self, event: Event) -> None:
        entry = {"event": type(event).__name__.lower(), "time": round(time.time(), 3)}
        line = json.dumps({**entry, **asdict(event)}, ensure_ascii=False)
        # A path that is no UTF-8 is written with backslashes, which JSON reads as what it was.
        self._append(line.encode(errors="backslashreplace") + b"\n")

    def close(self) -> None:
        self._file.close()

    def _append(self, line: bytes) -> None:
        with explain_write_errors(self._path):
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def read_journal(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries of a run's journal; lines that a crash cut off are passed over."""
    with (folder / "journal.jsonl").open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"
