"""How far the clock of each machine is from that of rank 0.

Rank 0 asks, the machine answers with its time, and the answer was given somewhere between
question and answer: half of the quickest round trip is the uncertainty.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from trainferry.launch.preflight.board import Board, SilenceError
from trainferry.launch.preflight.crew import Crew, Machine
from trainferry.launch.preflight.report import Check, Problem

ROUNDS = 5
WARN_SECONDS = 1.0
WRONG_SECONDS = 30.0
ANSWER_SECONDS = 5.0

Now: TypeAlias = Callable[[], float]


@dataclass(frozen=True)
class Offset:
    """Positive where the machine's clock is ahead of rank 0's."""

    seconds: float
    uncertainty_seconds: float


def answer_clock(board: Board, machine: Machine, now: Now, seconds: float) -> None:
    """Say the time as often as rank 0 asks; the first question may come after `seconds`."""
    for turn in range(ROUNDS):
        limit = seconds if turn == 0 else ANSWER_SECONDS
        board.read(f"clock/{machine.number}/{turn}/ask", limit, "rank 0 to ask for the time")
        board.post(f"clock/{machine.number}/{turn}/answer", now())


def ask_clock(board: Board, machine: Machine, now: Now) -> Offset | None:
    """The offset by the quickest of some round trips; None where no answer comes."""
    best: Offset | None = None
    for turn in range(ROUNDS):
        before, asked = now(), time.monotonic()
        board.post(f"clock/{machine.number}/{turn}/ask", True)
        try:
            name = f"clock/{machine.number}/{turn}/answer"
            told = board.read(name, ANSWER_SECONDS, f"the time of {machine.name}")
        except SilenceError:
            break  # judged by the caller, who sees that there is no offset
        half = (time.monotonic() - asked) / 2
        if best is None or half < best.uncertainty_seconds:
            best = Offset(told - (before + half), half)
    return best


def judge_clocks(crew: Crew, offsets: Mapping[int, Offset | None]) -> Check:
    """`offsets` holds those of all machines but rank 0's own."""
    if not offsets:
        return Check("clocks", "one machine: one clock")
    problems: list[Problem] = []
    for number, offset in offsets.items():
        name = crew.machines[number].name
        if offset is None:
            who = crew.name(crew.machines[number].speaker)
            sentence = f"{who} did not tell its time within {ANSWER_SECONDS:.0f} s"
            problems.append(Problem("wrong", sentence, "read its output"))
        elif abs(offset.seconds) > WARN_SECONDS:
            side = "ahead of" if offset.seconds > 0 else "behind"
            problems.append(
                Problem(
                    "wrong" if abs(offset.seconds) > WRONG_SECONDS else "warning",
                    f"the clock of {name} is {abs(offset.seconds):,.1f} s {side} rank 0's "
                    f"(± {offset.uncertainty_seconds:.3f} s)",
                    "switch its time service on: `timedatectl set-ntp true`, or chrony",
                )
            )
    known = {number: one for number, one in offsets.items() if one is not None}
    largest = max((abs(one.seconds) for one in known.values()), default=0.0)
    doubt = max((one.uncertainty_seconds for one in known.values()), default=0.0)
    sentence = f"at most {largest:,.3f} s apart from rank 0's (± {doubt:.3f} s)"
    measured = {crew.machines[number].name: vars(one) for number, one in known.items()}
    return Check("clocks", sentence, tuple(problems), measured=measured)
