"""Torch elastic's agent with the ranks, the log files and the decisions of a run."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch.distributed.elastic.agent.server.api import (
    RunResult,
    Worker,
    WorkerGroup,
    WorkerSpec,
    WorkerState,
)
from torch.distributed.elastic.agent.server.local_elastic_agent import LocalElasticAgent
from torch.distributed.elastic.multiprocessing import SignalException

from trainferry.launch.codes.explain import explain_end
from trainferry.launch.start.exits import Exit, Exits, end_orphans, own_children
from trainferry.launch.start.failure import RankFailure, last_lines
from trainferry.launch.start.logs import RankLogs
from trainferry.launch.start.member import Member
from trainferry.launch.start.messages import View
from trainferry.launch.start.places import places_of, variables_of
from trainferry.launch.start.rendezvous import MeetingRendezvous
from trainferry.launch.start.start import Start

# Ranks that fail because another did end a moment later; all ends of that moment are compared.
_SETTLE_SECONDS = 0.05


class RankAgent(LocalElasticAgent):
    """Starts, watches and stops the ranks of this machine.

    What torch decides for each machine alone, the meeting decides for all: which rank failed
    first, whether to start again, and when a run is done.
    """

    def __init__(
        self,
        start: Start,
        spec: WorkerSpec,
        meeting: tuple[Member, MeetingRendezvous],
        logs: RankLogs,
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(spec=spec, logs_specs=logs)
        self._start = start
        self._member, self._rendezvous_here = meeting
        self._logs = logs
        self._tell = tell
        self._exits = Exits()
        self._pids: list[int] = []
        self._others = own_children()
        self._done: RunResult | None = None
        self._is_hurried = False

    def _assign_worker_ranks(
        self,
        store: object,
        group_rank: int,
        group_world_size: int,
        spec: WorkerSpec,
    ) -> list[Worker]:
        """Give each process of this machine the rank that order or rank table say."""
        del store, spec
        plan = replace(self._start.plan, nodes=group_world_size)
        places = places_of(plan, self._start.table)
        here = [place for place in places if place.node == group_rank]
        variables = {
            place.local_rank: variables_of(plan, place, self._start.table) for place in here
        }
        self._logs.variables = variables
        return [
            Worker(place.local_rank, place.rank, place.rank, plan.ranks, plan.ranks)
            for place in here
        ]

    def _start_workers(self, worker_group: WorkerGroup) -> dict[int, Any]:
        view = self._rendezvous_here.view
        assert view is not None
        self._logs.round = view.round
        self._logs.folder = self._start.logs / view.meeting
        self._done = None
        self._exits = Exits()
        found: dict[int, Any] = super()._start_workers(worker_group)
        self._pids = list(found.values())
        for local_rank, pid in found.items():
            self._exits.watch(local_rank, pid)
        self._tell_started(worker_group)
        return found

    def _monitor_workers(self, worker_group: WorkerGroup) -> RunResult:
        healthy = RunResult(WorkerState.HEALTHY)
        why = self._rendezvous_here.why_to_stop()
        if not why and self._member.view and self._member.view.phase == "ended":
            return self._end(self._member.view)
        if self._done:
            return healthy
        if first := self._exits.first_failure():
            time.sleep(_SETTLE_SECONDS)
            return self._mind_failure(self._exits.first_failure() or first)
        if why:  # torch asks the rendezvous next, and stops them
            self._tell(f"stopping the ranks here: {why}")
        elif self._exits.are_all_seen():
            return self._collect(worker_group)
        return healthy

    def _collect(self, worker_group: WorkerGroup) -> RunResult:
        """Let torch see ranks that have all ended; earlier it would stop those that have not."""
        result = super()._monitor_workers(worker_group)
        if result.state == WorkerState.SUCCEEDED:
            self._done = result
            self._member.say(state="done")
        return result if result.state == WorkerState.UNKNOWN else RunResult(WorkerState.HEALTHY)

    def _end(self, view: View) -> RunResult:
        if self._done and not view.reason:
            return self._done
        self._remaining_restarts = 0
        return RunResult(WorkerState.FAILED)

    def _mind_failure(self, ended: Exit) -> RunResult:
        failure = self._describe(ended)
        before = time.monotonic() - ended.moment
        self._member.say(failure=failure, failed_before=before)
        self._shutdown()
        round = self._member.beat.round
        view = self._member.wait_for(
            lambda now: now.phase != "running" or now.round != round, self._start.wait_seconds
        )
        if view and view.phase == "ended":
            return self._end(view)
        if view is None:
            self._tell(f"{failure.sentence()}, and the meeting does not answer")
            self._tell_words(failure)
        elif view.failure:
            limit = self._start.plan.restarts
            self._tell(f"restart {view.restarts} of {limit}: {view.failure.sentence()}")
            self._tell_words(view.failure)
        self._remaining_restarts = 1  # torch takes one off; the meeting has counted
        return RunResult(WorkerState.UNHEALTHY)

    def _describe(self, ended: Exit) -> RankFailure:
        worker = self._worker_group.workers[ended.local_rank]
        path = self._logs.paths[ended.local_rank]
        machine = self._member.beat.machine if self._start.rendezvous else ""
        return RankFailure(
            worker.global_rank,
            machine,
            ended.code,
            str(path),
            last_lines(path),
            explain_end(path),
        )

    def _shutdown(self, death_sig: signal.Signals | None = None, *_: object, **__: object) -> None:
        """Stop the ranks here; torch names a signal where one came to this process."""
        if self._is_hurried:
            self.end_all()
        try:
            if self._pcontext:
                grace = int(self._start.grace_seconds)
                self._pcontext.close(death_sig or signal.SIGTERM, grace)
        except SignalException:
            # Torch calls this once more. After a second signal it must not wait once more.
            self._is_hurried = death_sig is not None
            raise
        end_orphans(self._pids, self._others)
        super()._shutdown(death_sig or signal.SIGTERM)

    def end_all(self) -> None:
        """Leave no process behind, whatever happened; a second Ctrl-C comes to this."""
        if self._pcontext:
            self._pcontext.close(signal.SIGKILL, 5)
        end_orphans(self._pids, self._others)

    def _exit_barrier(self) -> None:
        """Nothing to wait for: a machine is done here only when all are."""

    def _tell_words(self, failure: RankFailure) -> None:
        said = [line for line in failure.last_lines if line.strip()]
        if said:
            self._tell(f"its last line, of {failure.log}: {said[-1].strip()}")
        for line in failure.explained:
            self._tell(line)

    def _tell_started(self, worker_group: WorkerGroup) -> None:
        ranks = [worker.global_rank for worker in worker_group.workers]
        view = self._rendezvous_here.view
        assert view is not None
        which = f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {min(ranks)} to {max(ranks)}"
        if len(view.roster) > 1:
            size = worker_group.workers[0].world_size
            which += f" of {size} on {len(view.roster)} machines"
        again = f", attempt {view.round}" if view.round > 1 else ""
        self._tell(f"started {which}{again}; logs in {self._logs.folder}")
