"""Machines that take part in a meeting, and launchers as real processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainferry.launch.start.failure import RankFailure
from trainferry.launch.start.meeting import Meeting, Rules
from trainferry.launch.start.messages import Beat, View

SOURCE = Path(__file__).resolve().parents[3] / "src"
_MAIN = "import sys; from trainferry.cli.main import main; sys.exit(main())"


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Machine:
    """Says what a test lets it say."""

    def __init__(self, meeting: Meeting, name: str, node: int | None = None) -> None:
        self._meeting = meeting
        self.beat = Beat(
            job="run", id=f"id-{name}", machine=name, devices=2, state="waiting", node=node
        )

    def say(self, **changes: Any) -> View:
        self.beat = replace(self.beat, failure=None, **changes)
        return self._meeting.hear(self.beat)

    def fail(self, rank: int, code: int = 1, before: float = 0.0) -> View:
        failure = RankFailure(rank, self.beat.machine, code, "a.log", ("last words",))
        return self._meeting.hear(replace(self.beat, failure=failure, failed_before=before))

    def join(self) -> View:
        """Run the ranks of the round that is on."""
        view = self.say()
        return self.say(state="running", round=view.round)


def rules(**changed: Any) -> Rules:
    values: dict[str, Any] = {"job": "run", "least": 2, "most": 2, "devices": 2, "restarts": 1}
    return Rules(**{**values, **changed})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_launcher(folder: Path, *words: str, before: str = "") -> subprocess.Popen[str]:
    """`trainferry launch` as a user would start it, in `folder`; `before` is Python run first."""
    names = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return subprocess.Popen(
        [sys.executable, "-c", f"{before}\n{_MAIN}", "launch", *words],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def launch(folder: Path, *words: str, before: str = "") -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a launcher that ends by itself."""
    process = start_launcher(folder, *words, before=before)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err
