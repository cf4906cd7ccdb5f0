"""The machines of a run agree here: who takes part, in which order, and when to start again.

One machine holds the meeting, all tell it every second how they are. It knows no network and no
processes, so that everything it decides can be tried without either.

    gathering   machines arrive and wait; ranks run nowhere
    running     all machines of the roster run the ranks of a round
    ended       all ranks ended well, or one failed for good, or somebody stopped the run
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from trainferry.launch.start.failure import WRONG_USAGE, RankFailure
from trainferry.launch.start.messages import Beat, Phase, Seat, View


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a meeting decides by. `restarts` counts failures of ranks, not of machines.

    A machine not heard for `silence_seconds` is lost. With more than `least` machines and less
    than `most`, the round waits `last_call_seconds` for more. Failures that come within
    `settle_seconds` are looked at together: the first one is the cause of the others.
    """

    job: str
    least: int
    most: int
    devices: int
    restarts: int = 0
    silence_seconds: float = 8.0
    last_call_seconds: float = 15.0
    settle_seconds: float = 1.0


@dataclass
class _Decision:
    """Failures of the round that runs, until it is clear which came first."""

    due: float
    failures: list[tuple[float, RankFailure]] = field(default_factory=list)


class Meeting:
    """Holds the state; `hear` may be called from many threads."""

    def __init__(self, rules: Rules, clock: Callable[[], float] = time.monotonic) -> None:
        self._rules = rules
        self._clock = clock
        self._lock = threading.Lock()
        self._beats: dict[str, tuple[float, Beat]] = {}
        self._lost: dict[str, str] = {}
        self._decision: _Decision | None = None
        self._last_call: float | None = None
        started = time.strftime("%Y%m%d-%H%M%S")
        self._view = View(meeting=f"{started}-{uuid.uuid4().hex[:4]}", phase="gathering", round=0)

    def hear(self, beat: Beat) -> View:
        """Take in what a machine says; answer how things stand."""
        with self._lock:
            now = self._clock()
            if refused := self._objection(beat):
                return replace(self._answer(), refused=refused)
            self._beats[beat.id] = (now, beat)
            self._lost = {id: name for id, name in self._lost.items() if name != beat.machine}
            if beat.state == "left":
                self._leave(beat)
            self._lose_silent_ones(now)
            if self._view.phase == "running":
                self._look_at_round(beat, now)
            if self._view.phase == "gathering":
                self._complete(now)
            return self._answer()

    def is_empty(self) -> bool:
        """Whether all machines have left or are lost."""
        with self._lock:
            self._lose_silent_ones(self._clock())
            return not self._beats

    def _objection(self, beat: Beat) -> str:
        rules = self._rules
        if beat.job != rules.job:
            return f"here the run `{rules.job}` is held, not `{beat.job}`"
        if beat.devices != rules.devices:
            return f"it starts {beat.devices} ranks, the others {rules.devices}"
        for _, other in self._beats.values():
            if beat.node is not None and other.node == beat.node and other.id != beat.id:
                return f"{other.machine} is machine number {beat.node} already"
        return ""

    def _answer(self) -> View:
        here = tuple(beat.machine for _, beat in self._beats.values())
        return replace(self._view, here=here, lost=tuple(self._lost.values()))

    def _lose_silent_ones(self, now: float) -> None:
        limit = self._rules.silence_seconds
        if all(now - heard <= limit for heard, _ in self._beats.values()):
            return
        # Those that fell silent with the first one are named with it.
        silent = {
            id: (now - heard, beat)
            for id, (heard, beat) in self._beats.items()
            if now - heard > limit * 0.75
        }
        for id, (_, beat) in silent.items():
            del self._beats[id]
            self._lost[id] = beat.machine
        gone = [
            beat.machine for id, (_, beat) in silent.items() if self._view.seat_of(id) is not None
        ]
        if gone and self._view.phase == "running":
            longest = max(seconds for seconds, _ in silent.values())
            self._gather(f"{_machines(gone)} not answered for {longest:.0f} s")

    def _look_at_round(self, beat: Beat, now: float) -> None:
        view = self._view
        is_ours = view.seat_of(beat.id) is not None
        if is_ours and beat.round == view.round:
            if beat.failure:
                self._note(beat.failure, now - beat.failed_before, now)
            elif beat.state == "waiting":
                self._gather(f"machine {beat.machine} lost contact and stopped its ranks")
            elif beat.store:
                self._view = replace(view, store=beat.store)
        elif not is_ours and beat.state == "waiting" and self._has_room():
            self._gather(f"machine {beat.machine} joins")
        if self._decision and now >= self._decision.due:
            self._decide(self._decision)
        elif self._all_done():
            self._end("")

    def _note(self, failure: RankFailure, happened: float, now: float) -> None:
        if self._decision is None:
            alone = len(self._view.roster) == 1
            self._decision = _Decision(now if alone else now + self._rules.settle_seconds)
        if all(known.rank != failure.rank for _, known in self._decision.failures):
            self._decision.failures.append((happened, failure))

    def _decide(self, decision: _Decision) -> None:
        _, first = min(decision.failures, key=lambda entry: entry[0])
        self._view = replace(self._view, failure=first)
        if self._view.restarts >= self._rules.restarts or first.code == WRONG_USAGE:
            self._end(first.sentence())
            return
        self._view = replace(self._view, restarts=self._view.restarts + 1)
        self._gather(first.sentence())

    def _leave(self, beat: Beat) -> None:
        """A machine that leaves ends a run that cannot go on without it."""
        del self._beats[beat.id]
        if self._view.phase == "ended" or self._view.seat_of(beat.id) is None:
            return
        if len(self._view.roster) > self._rules.least:
            self._gather(f"machine {beat.machine} left: {beat.reason}")
        elif not self._decision:
            self._end(f"machine {beat.machine} left: {beat.reason}")

    def _has_room(self) -> bool:
        return len(self._view.roster) < self._rules.most and self._rules.restarts > 0

    def _all_done(self) -> bool:
        beats = [self._beats.get(seat.id) for seat in self._view.roster]
        return self._view.phase == "running" and all(
            entry and entry[1].state == "done" and entry[1].round == self._view.round
            for entry in beats
        )

    def _gather(self, reason: str) -> None:
        """Stop the ranks everywhere; who never wants to start twice ends here."""
        if self._rules.restarts == 0:
            self._end(reason)
        else:
            self._enter("gathering", reason)

    def _end(self, reason: str) -> None:
        self._enter("ended", reason)

    def _enter(self, phase: Phase, reason: str) -> None:
        self._decision = None
        self._last_call = None
        self._view = replace(self._view, phase=phase, reason=reason, store="")

    def _complete(self, now: float) -> None:
        """Begin a round when all that can be expected are here and have stopped their ranks."""
        beats = [beat for _, beat in self._beats.values()]
        if len(beats) < self._rules.least or any(beat.state != "waiting" for beat in beats):
            self._last_call = None
            return
        if len(beats) < self._rules.most and not self._is_as_before(beats):
            self._last_call = self._last_call or now + self._rules.last_call_seconds
            if now < self._last_call:
                return
        beats.sort(key=lambda beat: (beat.node is None, beat.node or 0, _as_number(beat.machine)))
        roster = tuple(Seat(beat.id, beat.machine) for beat in beats[: self._rules.most])
        self._enter("running", self._view.reason)
        self._view = replace(self._view, round=self._view.round + 1, roster=roster)

    def _is_as_before(self, beats: list[Beat]) -> bool:
        return {beat.id for beat in beats} == {seat.id for seat in self._view.roster}


def _machines(names: list[str]) -> str:
    if len(names) == 1:
        return f"machine {names[0]} has"
    return f"machines {', '.join(names)} have"


def _as_number(machine: str) -> tuple[int, str]:
    """Addresses in their own order, 10.0.0.9 before 10.0.0.10; other names after them."""
    parts = machine.split(".")
    if len(parts) == 4 and all(part.isdecimal() and len(part) < 4 for part in parts):
        return int("".join(f"{int(part):03}" for part in parts)), ""
    return 10**12, machine
