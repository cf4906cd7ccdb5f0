"""Profiles: a trace of chosen steps, and where their time went.

The device is waited for where one phase ends and the next begins, so that each has its own time;
a step takes a little longer than without.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from trainferry.counted import counted
from trainferry.devices.device import synchronize
from trainferry.devices.profile import OperatorTime, Profiler, open_profiler
from trainferry.errors import UsageError
from trainferry.train.data.batch import Batch
from trainferry.train.data.whole_file import explain_write_errors, write_whole
from trainferry.train.debug.ranks import of_rank
from trainferry.train.debug.switches import ProfileSwitch
from trainferry.train.journal import Said
from trainferry.train.loop import Tell
from trainferry.train.run import Run

WAIT, PREPARE, FORWARD, BACKWARD, UPDATE = (
    "wait for data",
    "prepare batch",
    "forward",
    "loss and backward",
    "update",
)
PHASES = (WAIT, PREPARE, FORWARD, BACKWARD, UPDATE)
OPERATORS = 12


@dataclass(frozen=True)
class Profile:
    """The seconds of each phase over all profiled steps, and the operators that took longest."""

    first: int
    steps: int
    phases: dict[str, float]
    operators: list[OperatorTime] | None

    def lines(self) -> list[str]:
        """Return the tables."""
        whole = sum(self.phases.values())
        lines = [f"{'phase':<20}{'ms per step':>12}{'share':>8}"]
        lines += [
            f"{name:<20}{1000 * seconds / self.steps:>12.2f}{seconds / whole:>8.1%}"
            for name, seconds in self.phases.items()
        ]
        lines.append(f"{'all':<20}{1000 * whole / self.steps:>12.2f}")
        if self.operators is None:
            return [*lines, "", "operators: this device's profiler shows them in the trace alone"]
        every = sum(each.seconds for each in self.operators) or 1.0
        lines += ["", f"{'operator':<44}{'calls':>8}{'ms per step':>12}{'share':>8}"]
        lines += [
            f"{_cut(each.name):<44}{_few_digits(each.calls / self.steps):>8}"
            f"{1000 * each.seconds / self.steps:>12.2f}{each.seconds / every:>8.1%}"
            for each in self.operators[:OPERATORS]
        ]
        return lines


class ProfileObserver:
    """Records the steps asked for, phase by phase."""

    def __init__(self, run: Run, switch: ProfileSwitch, tell: Tell) -> None:
        self._run = run
        self._switch = switch
        self._tell = tell
        name = f"steps-{switch.start:08d}-{switch.last:08d}{of_rank(run.group)}.json.gz"
        self._path = run.folder / "profiles" / name
        _check(run, switch, self._path)
        self._profiler: Profiler | None = None
        self._seconds = dict.fromkeys(PHASES, 0.0)
        self._phase: str | None = None
        self._mark: Any = None
        self._since = 0.0
        self._steps = 0
        self._recording = False
        self._handles = [
            run.network.register_forward_pre_hook(lambda *_: self._enter(FORWARD)),
            run.network.register_forward_hook(lambda *_: self._enter(BACKWARD)),
        ]
        # Not by a hook of the optimizer: torch marks its step in the trace before it calls them,
        # and marks that overlap without one being inside the other cannot be drawn.
        self._update = run.optimizer.step
        vars(run.optimizer)["step"] = self._step

    def before_batch(self) -> None:
        step = self._run.step + 1
        if self._profiler is None and step >= self._switch.start - 1:
            self._profiler = open_profiler(self._run.device)
        if self._profiler is not None and step == self._switch.start and not self._steps:
            synchronize(self._run.device)
            self._recording = True
            self._profiler.start()
        self._enter(WAIT)

    def before_step(self, batch: Batch) -> None:
        del batch
        self._enter(PREPARE)

    def after_step(self) -> None:
        self._enter(None)
        if self._recording:
            self._steps += 1
            if self._steps == self._switch.count:
                self._finish()

    def close(self) -> None:
        for handle in self._handles:
            handle.remove()
        del vars(self._run.optimizer)["step"]
        if self._recording:
            self._enter(None)
            self._finish()
        elif not self._steps:
            text = f"no profile: step {self._switch.start} was not trained"
            self._tell(Said(self._run.step, text))

    def _step(self) -> None:
        self._enter(UPDATE)
        self._update()

    def _enter(self, phase: str | None) -> None:
        """End the phase before, and begin the next one."""
        if not self._recording:
            return
        synchronize(self._run.device)
        now = time.perf_counter()
        if self._phase is not None:
            self._seconds[self._phase] += now - self._since
            self._mark.__exit__(None, None, None)
        self._phase, self._since = phase, now
        if phase is not None:
            self._mark = torch.profiler.record_function(phase)
            self._mark.__enter__()

    def _finish(self) -> None:
        assert self._profiler is not None
        self._recording = False
        self._profiler.stop()
        with explain_write_errors(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._profiler.save(self._path)
        steps = max(self._steps, 1)
        profile = Profile(self._switch.start, steps, self._seconds, self._profiler.operators())
        lines = profile.lines()
        write_whole(_beside(self._path), "\n".join([*lines, ""]).encode())
        title = f"profile of {counted(steps, 'step')} from step {profile.first} on, in {self._path}"
        self._tell(Said(self._run.step, "\n  ".join([title, *lines]).replace("\n  \n", "\n\n")))


def _beside(trace: Path) -> Path:
    return trace.with_name(trace.name.removesuffix(".json.gz") + ".txt")


def _check(run: Run, switch: ProfileSwitch, path: Path) -> None:
    if path.exists():
        raise UsageError(
            f"`{path}` is there already, and profiles are not overwritten",
            hint="move it away, or profile other steps",
        )
    if switch.last > run.recipe.schedule.steps:
        raise UsageError(
            f"step {switch.last} is to be profiled, and the run ends with "
            f"{run.recipe.schedule.steps}",
            hint="choose earlier steps, or more: --set schedule.steps=…",
        )
    if switch.start <= run.step:
        raise UsageError(
            f"step {switch.start} is to be profiled, and the run goes on behind step {run.step}",
            hint="choose later steps, or start a new run folder",
        )


def _cut(name: str) -> str:
    return name if len(name) <= 42 else name[:41] + "…"


def _few_digits(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
