"""Rank 0's part of a preflight: who came, what they tell, and the judgement of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainferry.launch.preflight.board import Board
from trainferry.launch.preflight.clocks import ANSWER_SECONDS, Now, Offset, ask_clock, judge_clocks
from trainferry.launch.preflight.crew import Crew, Hello, judge_machines, judge_ranks
from trainferry.launch.preflight.device import DeviceFacts, judge_devices
from trainferry.launch.preflight.folders import judge_folders
from trainferry.launch.preflight.limits import judge_limits
from trainferry.launch.preflight.names import judge_names
from trainferry.launch.preflight.place import Place
from trainferry.launch.preflight.ports import CONNECT_SECONDS, judge_ports
from trainferry.launch.preflight.report import Check, Problem, Report
from trainferry.launch.preflight.settings import Settings
from trainferry.launch.preflight.sums import collect_outcomes, judge_sums
from trainferry.launch.preflight.table import judge_table, servers_of
from trainferry.launch.preflight.trial import TrialPlan
from trainferry.launch.preflight.versions import judge_versions

# All clocks together: a cluster in which many machines have died must not wait for each.
_CLOCKS_SECONDS = 30.0
_LEAST_FACTS_SECONDS = 3.0


def await_crew(board: Board, place: Place, seconds: float) -> Crew:
    """Wait until all ranks have come, at most `seconds`."""
    started = time.monotonic()
    board.wait_for_count("came", place.ranks, seconds)
    waited = time.monotonic() - started
    ranks = range(place.ranks)
    hellos = board.read_all((name for rank in ranks if board.has(name := f"hello/{rank}")), 1.0)
    twins = tuple(rank for rank in ranks if board.has(f"twin/{rank}"))
    came = tuple(Hello(**one) for one in hellos.values())
    return Crew(place, came, twins, waited, servers_of(place.rank_table))


def collect_report(
    board: Board,
    crew: Crew,
    settings: Settings,
    now: Now,
    try_out: Callable[[TrialPlan], object],
) -> Report:
    """Everything that is to be said; `try_out` starts rank 0's own part of a trial."""
    ranks = sorted(hello.rank for hello in crew.hellos)
    limit = max(_LEAST_FACTS_SECONDS, settings.seconds)
    told = board.read_all((f"facts/{rank}" for rank in ranks), limit)
    facts = {rank: told[name] for rank in ranks if (name := f"facts/{rank}") in told}
    checks = [
        _add_silent(judge_ranks(crew), crew, sorted({*ranks} - {*facts}), limit),
        judge_machines(crew),
        judge_devices(crew, settings.device, _part(facts, "device")),
        judge_versions(crew, _part(facts, "versions")),
        judge_folders(crew, _part(facts, "folders")),
        judge_limits(crew, _part(facts, "limits")),
        judge_table(crew, _part(facts, "table")),
        judge_names(crew, _part(facts, "name")),
        _ports(board, crew, settings),
        judge_clocks(crew, _clocks(board, crew, now)),
        *_trials(board, crew, settings, _part(facts, "device"), try_out),
    ]
    return Report(crew.place.ranks, crew.place.machines, 0, tuple(checks))


def _part(facts: dict[int, dict[str, Any]], name: str) -> dict[int, Any]:
    return {rank: told[name] for rank, told in facts.items()}


def _add_silent(check: Check, crew: Crew, silent: list[int], seconds: float) -> Check:
    if not silent:
        return check
    sentence = f"{crew.name_all(silent)} came, and said nothing more for {seconds:.0f} s"
    problem = Problem("wrong", sentence, "read its output: it ended, or its machine was cut off")
    return Check(check.name, check.sentence, (*check.problems, problem), measured=check.measured)


def _ports(board: Board, crew: Crew, settings: Settings) -> Check:
    numbers = range(len(crew.machines) if len(crew.machines) > 1 else 0)
    limit = 2 * (settings.seconds + CONNECT_SECONDS)
    told = board.read_all((f"ports/{number}" for number in numbers), limit)
    return judge_ports(
        crew, {number: told[name] for number in numbers if (name := f"ports/{number}") in told}
    )


def _clocks(board: Board, crew: Crew, now: Now) -> dict[int, Offset | None]:
    until = time.monotonic() + _CLOCKS_SECONDS + ANSWER_SECONDS
    return {
        machine.number: ask_clock(board, machine, now) if time.monotonic() < until else None
        for machine in crew.machines[1:]
    }


def _trials(
    board: Board,
    crew: Crew,
    settings: Settings,
    devices: Mapping[int, DeviceFacts],
    try_out: Callable[[TrialPlan], object],
) -> Iterator[Check]:
    """Gloo first, which needs no device; then the device's own backend."""
    plans = [TrialPlan("gloo", "cpu", settings.trial_seconds)]
    if settings.backend and settings.backend != "gloo":
        plans.append(TrialPlan(settings.backend, settings.device, settings.trial_seconds))
    until = "" if len(devices) == crew.place.ranks and not crew.twins else "until all ranks come"
    started = 0
    for plan in plans:
        if plan.device != "cpu" and any(facts["problem"] for facts in devices.values()):
            until = until or "until all ranks have their device"
        if until:
            yield Check(f"all-reduce over {plan.backend}", until, is_skipped=True)
            continue
        board.post(f"trial/{started}", vars(plan))
        started += 1
        try_out(plan)
        check = judge_sums(crew, plan, collect_outcomes(board, plan, crew.place.ranks))
        if check.outcome != "ok":
            until = f"until the one over {plan.backend} is ok"
        yield check
    if settings.device != "cpu" and not settings.backend:
        yield Check("all-reduce on devices", "no backend was named to try", is_skipped=True)
    board.post(f"trial/{started}", None)
