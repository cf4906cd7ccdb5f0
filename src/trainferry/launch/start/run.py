"""Starts the ranks of this machine, watches over them to the end, and says how it ended."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.errors import LaunchError, MissingPackageError
from trainferry.launch.start.exits import adopt_orphans
from trainferry.launch.start.failure import RankFailure, signal_name
from trainferry.launch.start.machine import interface_of, is_this_machine, own_address
from trainferry.launch.start.meeting import Meeting, Rules
from trainferry.launch.start.meeting_server import ask, is_held, serving
from trainferry.launch.start.member import Ask, Member
from trainferry.launch.start.messages import Beat, View
from trainferry.launch.start.start import Start, words_to_run
from trainferry.launch.write.plan import LaunchPlan

if TYPE_CHECKING:
    from trainferry.launch.start.agent import RankAgent

_RANK_PROGRAM = Path(__file__).with_name("rank.py")


@dataclass(frozen=True)
class Outcome:
    """How a run ended on this machine: the exit status, and the rank that failed if one did."""

    status: int
    reason: str = ""
    failure: RankFailure | None = None
    restarts: int = 0


def start_ranks(start: Start, tell: Callable[[str], None]) -> Outcome:
    """Run the command on all ranks of this machine until all machines are done.

    `tell` hears what happens, a sentence at a time. Must be called by the main thread, and no
    more than once in a process: it takes over signals and child processes.
    """
    _import_torch()
    words = words_to_run(start.plan.command)
    adopt_orphans()
    with _own_signals(), _meeting(start, tell) as (begun, member):
        return _run(begun, words, member, tell)


def _import_torch() -> None:
    """Import it with its own warnings off, here and not in the ranks: it reads them once."""
    level = "TORCH_CPP_LOG_LEVEL"
    is_ours = level not in os.environ
    os.environ.setdefault(level, "ERROR")
    try:
        import torch.distributed  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingPackageError("torch", "starting ranks") from error
    finally:
        if is_ours:
            del os.environ[level]


def _run(
    start: Start, words: tuple[str, ...], member: Member, tell: Callable[[str], None]
) -> Outcome:
    from torch.distributed.elastic.multiprocessing import SignalException

    from trainferry.launch.start.rendezvous import RunEndedError

    agent = None
    reason = "it ended"
    try:
        agent = _build_agent(start, words, member, tell)
        agent.run()
        return _outcome(member.view)
    except RunEndedError as ended:
        return _outcome(ended.view)
    except SignalException as stopped:
        name = signal_name(stopped.sigval)
        reason = f"stopped by {name}"
        return Outcome(128 + stopped.sigval, reason)
    except LaunchError as error:
        reason = str(error)
        raise
    finally:
        if agent is not None:
            agent.end_all()
        member.leave(reason)


def _outcome(view: View | None) -> Outcome:
    assert view is not None
    if not view.reason or view.phase != "ended":
        return Outcome(0, restarts=view.restarts)
    failed = view.failure if view.failure and view.reason == view.failure.sentence() else None
    return Outcome(failed.status if failed else 1, view.reason, failed, view.restarts)


def _build_agent(
    start: Start, words: tuple[str, ...], member: Member, tell: Callable[[str], None]
) -> RankAgent:
    from torch.distributed.elastic.agent.server.api import WorkerSpec

    from trainferry.launch.start.agent import RankAgent
    from trainferry.launch.start.logs import RankLogs
    from trainferry.launch.start.rendezvous import MeetingRendezvous

    # Torch's own words go nowhere: what they say is told here in a run's own words.
    logging.getLogger("torch.distributed.elastic").addHandler(logging.NullHandler())
    logging.getLogger("torch.distributed.elastic").propagate = False
    rendezvous = MeetingRendezvous(start, member, tell)
    arguments = ("-P", str(_RANK_PROGRAM), *words)
    spec = WorkerSpec(
        role="trainferry",
        local_world_size=start.plan.devices_per_node,
        rdzv_handler=rendezvous,
        entrypoint=sys.executable,
        args=tuple(word.replace("$", "$$") for word in arguments),  # torch fills in ${…}
        max_restarts=start.plan.restarts,
    )
    return RankAgent(start, spec, (member, rendezvous), RankLogs(start), tell)


@contextlib.contextmanager
def _meeting(start: Start, tell: Callable[[str], None]) -> Iterator[tuple[Start, Member]]:
    """This machine's part in the meeting, which it holds itself where it is the host."""
    plan = start.plan
    rules = Rules(
        job=plan.name,
        least=start.least_nodes,
        most=plan.nodes,
        devices=plan.devices_per_node,
        restarts=plan.restarts,
    )
    if start.rendezvous is None:
        beat = _first_beat(start, "127.0.0.1")
        yield start, _member(beat, Meeting(rules).hear, rules, seconds=0.05)
        return
    host, port = start.rendezvous
    address = own_address(host, port)
    beat = _first_beat(start, address)
    start = replace(start, plan=_with_interface(start, address))
    with contextlib.ExitStack() as stack:
        if is_this_machine(host) and not is_held(host, port, beat):
            stack.enter_context(serving(Meeting(rules), port))
            tell(f"this machine, {address}, holds the rendezvous at port {port}")
        yield start, _member(beat, lambda beat: ask(host, port, beat), rules, seconds=1.0)


def _first_beat(start: Start, address: str) -> Beat:
    plan = start.plan
    return Beat(
        job=plan.name,
        id=uuid.uuid4().hex,
        machine=address,
        devices=plan.devices_per_node,
        state="waiting",
        node=start.node,
    )


def _member(beat: Beat, ask: Ask, rules: Rules, *, seconds: float) -> Member:
    return Member(beat, ask, seconds=seconds, silence_seconds=rules.silence_seconds)


def _with_interface(start: Start, address: str) -> LaunchPlan:
    """The plan, with the network that gloo has to use; by host name it may take another."""
    name = "GLOO_SOCKET_IFNAME"
    interface = interface_of(address)
    if interface is None or name in os.environ or name in start.plan.environment:
        return start.plan
    return replace(start.plan, environment={**start.plan.environment, name: interface})


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """From the first moment, signals end the run as torch elastic lets them end it later.

    Where nobody wants to hear of ended children, Linux forgets how they ended: we want to.
    """
    from torch.distributed.elastic.multiprocessing import SignalException

    def stop(number: int, _: object) -> None:
        raise SignalException("stopped", signal.Signals(number))

    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
    before = {number: signal.signal(number, stop) for number in numbers}
    before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
