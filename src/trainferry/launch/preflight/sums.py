"""What the ranks' all-reduces say: the time they take, and who is at fault where they fail."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainferry.launch.preflight.board import Board
from trainferry.launch.preflight.crew import Crew
from trainferry.launch.preflight.report import Check, Problem
from trainferry.launch.preflight.trial import SIZES, TrialPlan

_GB = 1000**3
_PAUSE_SECONDS = 0.05
_AFTER_FAILURE_SECONDS = 3.0
_CALL_SECONDS = 2.0


@dataclass(frozen=True)
class Outcomes:
    """What each rank posted; a rank without a sum waits for others, or is gone.

    `heard` has the wrong senders by receiver, asked for where a sum is wrong; `waiting` are ranks
    that posted nothing, but answer.
    """

    sums: Mapping[int, Mapping[str, Any]]
    heard: Mapping[int, Sequence[int]] = field(default_factory=dict)
    waiting: Collection[int] = ()
    seconds: float = 0.0  # how long was waited for sums


def collect_outcomes(board: Board, plan: TrialPlan, ranks: int) -> Outcomes:
    """Wait for all sums; where one is wrong, ask the ranks to hear each other one by one."""
    started = time.monotonic()
    sums = _collect(board, plan, "sum", ranks)
    waited = time.monotonic() - started
    is_complete = len(sums) == ranks and not any(told["error"] for told in sums.values())
    asks = is_complete and any(told["wrong"] for told in sums.values())
    board.post(plan.key("pairs"), asks)
    heard = _collect(board, plan, "heard", ranks) if asks else {}
    return Outcomes(sums, heard, _call(board, plan, {*range(ranks)} - {*sums}), waited)


def _call(board: Board, plan: TrialPlan, silent: Collection[int]) -> list[int]:
    """Those of the silent ranks that are still there: their library waits, they do not."""
    board.post(plan.key("call"), True)
    keys = {plan.key("here", rank): rank for rank in silent if rank != 0}
    here = [keys[key] for key in board.read_all(keys, _CALL_SECONDS)]
    return [rank for rank in silent if rank == 0 or rank in here]


def judge_sums(crew: Crew, plan: TrialPlan, outcomes: Outcomes) -> Check:
    name = f"all-reduce over {plan.backend}"
    problems = [*_failed(crew, outcomes), *_wrong(crew, outcomes)]
    times = [told["seconds"] for told in outcomes.sums.values() if not told["error"]]
    if not times:
        return Check(name, f"none ended within {outcomes.seconds:.0f} s", tuple(problems))
    slowest = {size: max(one[size] for one in times) for size in SIZES}
    speeds = {size: bus_speed(SIZES[size], crew.place.ranks, slowest[size]) for size in SIZES}
    right = crew.place.ranks * (crew.place.ranks + 1) // 2
    parts = [f"the sum is {right:,} on all ranks"] if not problems else []
    parts += [_show(size, slowest[size], speeds[size]) for size in SIZES]
    measured = {
        size: {"seconds": slowest[size], "bytes": SIZES[size], "bytes_per_second": speeds[size]}
        for size in SIZES
    }
    return Check(name, "; ".join(parts), tuple(problems), measured=measured)


def bus_speed(size: int, ranks: int, seconds: float) -> float:
    """Bytes a second that each rank sends: an all-reduce moves 2 (n - 1) / n of the data."""
    return 2 * (ranks - 1) / ranks * size / seconds


def _show(size: str, seconds: float, speed: float) -> str:
    took = f"{seconds * 1000:,.1f} ms" if seconds < 1 else f"{seconds:,.2f} s"
    return f"{size} in {took}" + (f", {speed / _GB:.2f} GB/s" if speed else "")


def _collect(board: Board, plan: TrialPlan, name: str, ranks: int) -> dict[int, Any]:
    """What came within the plan's seconds; where one rank has failed, the rest says so soon."""
    found: dict[int, Any] = {}
    until = time.monotonic() + plan.seconds
    has_failed = False
    while len(found) < ranks and time.monotonic() < until:
        waiting = [rank for rank in range(ranks) if rank not in found]
        keys = {plan.key(name, rank): rank for rank in waiting}
        came = board.read_all([key for key in keys if board.has(key)], 1.0)
        found |= {keys[key]: told for key, told in came.items()}
        if not has_failed and any(
            isinstance(told, dict) and told["error"] for told in came.values()
        ):
            has_failed = True
            until = min(until, time.monotonic() + _AFTER_FAILURE_SECONDS)
        time.sleep(_PAUSE_SECONDS)
    return found


def _failed(crew: Crew, outcomes: Outcomes) -> Iterator[Problem]:
    fix = (
        "if `ranks`, `names` and `ports` are fine: set GLOO_SOCKET_IFNAME, or what the device's "
        "library has for it, to the interface that all machines share"
    )
    gone = sorted({*range(crew.place.ranks)} - {*outcomes.sums} - {*outcomes.waiting})
    if gone:
        told = f"{crew.name_all(gone)}: no sum, and no other word within {outcomes.seconds:.0f} s"
        yield Problem("wrong", told, "read its output: it ended, or its machine was cut off")
    ranks: dict[str, list[int]] = defaultdict(list)
    for rank, told_by_rank in outcomes.sums.items():
        if told_by_rank["error"]:
            ranks[told_by_rank["error"]].append(rank)
    for error, found in ranks.items():
        yield Problem("wrong", f"{crew.name_all(found)}: {error}", fix)
    if outcomes.waiting:
        who = crew.name_all(outcomes.waiting)
        yield Problem(
            "wrong", f"{who}: still waiting for others after {outcomes.seconds:.0f} s", fix
        )


def _wrong(crew: Crew, outcomes: Outcomes) -> Iterator[Problem]:
    """Name who sends or hears wrong numbers."""
    right = crew.place.ranks * (crew.place.ranks + 1) // 2
    bad = {rank: told for rank, told in outcomes.sums.items() if told.get("wrong")}
    if not bad:
        return
    count = max(told["wrong"] for told in bad.values())
    yield Problem(
        "wrong",
        f"{crew.name_all(bad)} got a wrong sum, in up to {count:,} numbers, instead of {right:,}",
        "do not train: gradients would be as wrong",
    )
    culprits = name_culprits(outcomes.heard, crew.place.ranks)
    for sentence, ranks in culprits:
        fix = "test memory, device and cable of that machine, or leave it out"
        yield Problem("wrong", f"{crew.name_all(ranks)} {sentence}", fix)
    if not culprits:
        sentence = "one by one, all ranks hear each other rightly: the fault comes and goes"
        yield Problem("wrong", sentence, "run the check again, several times")


def name_culprits(
    heard: Mapping[int, Sequence[int]], ranks: int
) -> list[tuple[str, tuple[int, ...]]]:
    """Who is at fault, from which senders each receiver heard wrongly.

    A sender that most others hear wrongly sends wrong numbers, a receiver that hears most
    others wrongly garbles them; what is left is between two ranks.
    """
    pairs = {(sender, receiver) for receiver, senders in heard.items() for sender in senders}
    most = (ranks - 1) / 2
    found: list[tuple[str, tuple[int, ...]]] = []
    for rank in range(ranks):
        by_others = {receiver for sender, receiver in pairs if sender == rank and receiver != rank}
        if len(by_others) > most:
            found.append(("sends wrong numbers", (rank,)))
            pairs = {pair for pair in pairs if pair[0] != rank}
    for rank in range(ranks):
        of_others = {sender for sender, receiver in pairs if receiver == rank and sender != rank}
        if len(of_others) > most:
            found.append(("hears wrong numbers", (rank,)))
            pairs = {pair for pair in pairs if pair[1] != rank}
    for sender, receiver in sorted(pairs):
        found.append(("do not hear each other rightly", (sender, receiver)))
    return found
