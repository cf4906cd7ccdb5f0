"""Starts the script of every rank, joins them by the hub, and waits for the end of all."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from trainferry.rehearse.hub import Hub
from trainferry.rehearse.hub_checks import HubFinding
from trainferry.rehearse.start import Ending, Limits, Script, start_script
from trainferry.rehearse.steps import FACTS, step_facts

_LOOK_SECONDS = 0.2
# For ranks that wait for one that failed: the hub tells them, and they end by themselves.
_GRACE_SECONDS = 20.0
_SOCKET_BYTES = 100  # a path in an address of the kernel has 108
_SOCKET_IN_SCRATCH = "pymp-12345678/listener-12345678"  # as multiprocessing names it


@dataclass
class State:
    """How far a rank is."""

    rank: int
    step: int = 0
    loss: float | None = None
    is_running: bool = True


class Show(Protocol):
    """Shows a rehearsal to a person."""

    def say(self, text: str) -> None:
        """Say a sentence."""

    def tell(self, side: str, states: Sequence[State], steps: int) -> None:
        """Show how far the ranks are; called several times a second."""

    def pause(self) -> None:
        """Leave the screen tidy."""


@dataclass(frozen=True)
class Crew:
    """The ranks of one side, ready to start."""

    side: str
    command: tuple[str, ...]
    folder: Path
    """Where the scripts run."""
    homes: tuple[Path, ...]
    """For each rank, where its output and facts go."""
    environments: tuple[Mapping[str, str], ...]
    limits: Limits
    steps: int


@dataclass
class Course:
    """How the ranks of a side ended."""

    endings: list[Ending] = field(default_factory=list)
    found: list[HubFinding] = field(default_factory=list)


def run_ranks(crew: Crew, show: Show) -> Course:
    """Run all ranks to their end. When one fails, the others are ended soon after."""
    with contextlib.ExitStack() as stack:
        hub = stack.enter_context(_hub(crew))
        more = {"TRAINFERRY_HUB": str(hub.path)} if hub else {}
        scripts: list[Script] = []
        try:
            for home, environment in zip(crew.homes, crew.environments, strict=True):
                script = start_script(
                    crew.command,
                    folder=crew.folder,
                    environment=stack.enter_context(short_scratch({**environment, **more})),
                    output=home / "output.txt",
                    limits=crew.limits,
                )
                scripts.append(script)
            endings = _wait(crew, scripts, hub, show)
        except BaseException:
            for script in scripts:
                script.stop()
            raise
        return Course(endings, list(hub.findings) if hub else [])


def _wait(crew: Crew, scripts: list[Script], hub: Hub | None, show: Show) -> list[Ending]:
    followers = [Follower(home, rank) for rank, home in enumerate(crew.homes)]
    running = dict(enumerate(scripts))
    deadline: float | None = None
    while running:
        for rank, script in list(running.items()):
            ending = script.poll()
            if ending is None:
                continue
            del running[rank]
            followers[rank].state.is_running = False
            if hub:
                hub.rank_ended(rank)
            if not ending.is_good and deadline is None:
                deadline = time.monotonic() + _GRACE_SECONDS
        if deadline is not None and time.monotonic() > deadline:
            for script in running.values():
                script.stop()
        for follower in followers:
            follower.follow()
        show.tell(crew.side, [follower.state for follower in followers], crew.steps)
        time.sleep(_LOOK_SECONDS if running else 0)
    show.pause()
    return [script.wait() for script in scripts]


class Follower:
    """Reads the steps of a rank while its script writes them."""

    def __init__(self, home: Path, rank: int) -> None:
        self._home = home
        self._read: dict[Path, int] = {}
        self.state = State(rank)

    def follow(self) -> None:
        """Read what is new; a line that is not yet whole waits for the next time."""
        for path in self._home.glob(FACTS):
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                text = file.read()
            whole = text[: text.rfind(b"\n") + 1]
            self._read[path] = self._read.get(path, 0) + len(whole)
            for fact in step_facts(whole):
                loss = fact.get("loss")
                self.state.step = int(fact.get("number", 0))
                self.state.loss = float(loss) if isinstance(loss, int | float) else None


@contextlib.contextmanager
def _hub(crew: Crew) -> Iterator[Hub | None]:
    if len(crew.homes) == 1:
        yield None
        return
    with short_place(crew.homes[0].parent / "hub") as path, Hub(path, len(crew.homes)) as hub:
        yield hub


@contextlib.contextmanager
def short_place(path: Path) -> Iterator[Path]:
    """`path`, or one in the folder for temporary files where it is too long for a socket."""
    if len(str(path).encode()) < _SOCKET_BYTES:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="trainferry-") as folder:
        yield Path(folder, path.name)


@contextlib.contextmanager
def short_scratch(environment: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """`environment`, with another TMPDIR where sockets of the script would not fit into its own."""
    scratch = environment.get("TMPDIR", "")
    if len(bytes(Path(scratch, _SOCKET_IN_SCRATCH))) < _SOCKET_BYTES:
        yield environment
        return
    with tempfile.TemporaryDirectory(prefix="trainferry-", ignore_cleanup_errors=True) as folder:
        yield {**environment, "TMPDIR": folder}
