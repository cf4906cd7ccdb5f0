"""How a rehearsal shows itself while it runs: a line for each rank, or plain lines in a pipe."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainferry.rehearse.ranks import Show, State

_PLAIN_SECONDS = 10.0
_MOST_RANKS = 8
_BAR = 20  # letters


def open_show() -> Show:
    """Lines that are drawn again if a person looks at a terminal, else a line now and then."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return TerminalShow()
    return PlainShow()


class PlainShow:
    """One line when a run begins and ends, and every ten seconds between."""

    def __init__(self) -> None:
        self._told = 0.0
        self._began = 0.0
        self._last = ""
        self._side = ""

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def tell(self, side: str, states: Sequence[State], steps: int) -> None:
        now = time.monotonic()
        if side != self._side:
            self._side, self._began, self._told = side, now, now
            self.say(f"{side}: starting")
        self._last = f"{side}: {_summary(states, steps)}, {now - self._began:.0f} s"
        if now - self._told >= _PLAIN_SECONDS:
            self._told = now
            self.say(self._last)

    def pause(self) -> None:
        if self._last:
            self.say(self._last)
        self._last = self._side = ""


class TerminalShow:
    """A block of lines, one for each rank, that is drawn again and again."""

    def __init__(self) -> None:
        self._drawn = 0
        self._began = 0.0
        self._side = ""
        self._turn = 0

    def say(self, text: str) -> None:
        self._erase()
        print(text, file=sys.stderr, flush=True)

    def tell(self, side: str, states: Sequence[State], steps: int) -> None:
        if side != self._side:
            self._side, self._began = side, time.monotonic()
        self._turn += 1
        lines = list(self._lines(states, steps))
        self._erase()
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write("".join(f"{line[:width]}\n" for line in lines))
        sys.stderr.flush()
        self._drawn = len(lines)

    def pause(self) -> None:
        """Keep what was drawn last."""
        self._drawn = 0
        self._side = ""

    def _lines(self, states: Sequence[State], steps: int) -> list[str]:
        seconds = time.monotonic() - self._began
        wheel = "|/-\\"[self._turn % 4] if any(state.is_running for state in states) else " "
        if len(states) == 1 or len(states) > _MOST_RANKS:
            bar = _bar(min(states, key=lambda state: state.step), steps)
            return [f"{wheel} {self._side}  {bar}  {_summary(states, steps)}, {seconds:.0f} s"]
        head = f"{wheel} {self._side}  {len(states)} ranks  {seconds:.0f} s"
        return [
            head,
            *(
                f"    rank {state.rank}  {_bar(state, steps)}  {_state(state, steps)}"
                for state in states
            ),
        ]

    def _erase(self) -> None:
        if self._drawn:
            sys.stderr.write(f"\033[{self._drawn}A\033[J")
            self._drawn = 0


def _summary(states: Sequence[State], steps: int) -> str:
    if len(states) == 1:
        return _state(states[0], steps)
    first, last = min(state.step for state in states), max(state.step for state in states)
    done = str(first) if first == last else f"{first} to {last}"
    loss = "" if states[0].loss is None else f", loss of rank 0 {states[0].loss:.4g}"
    return f"{len(states)} ranks, step {done} of {steps}{loss}"


def _state(state: State, steps: int) -> str:
    if state.step == 0:
        return "starting" if state.is_running else "ended without a step"
    loss = "" if state.loss is None else f", loss {state.loss:.4g}"
    return f"step {state.step} of {steps}{loss}"


def _bar(state: State, steps: int) -> str:
    mark = "█" if "utf" in (sys.stderr.encoding or "").lower() else "#"
    return f"{mark * min(_BAR, _BAR * state.step // steps):<{_BAR}}"
