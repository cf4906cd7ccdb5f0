"""Torch elastic's rendezvous, answered by the meeting.

Torch's own c10d rendezvous drops a machine that is silent without telling anybody, so its peers
hang; a machine that is cut off hangs in its store or ends; ranks follow addresses as text.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

from torch.distributed import HashStore, TCPStore  # type: ignore[attr-defined]  # no __all__
from torch.distributed.elastic.rendezvous import (
    RendezvousHandler,
    RendezvousInfo,
    RendezvousStoreInfo,
)

from trainferry.errors import LaunchError
from trainferry.launch.start.member import Member
from trainferry.launch.start.messages import View
from trainferry.launch.start.start import Start

_FIRST_TOLD_SECONDS = 3.0
_TELL_SECONDS = 10.0
_REFUSED_SECONDS = 20.0


class RunEndedError(Exception):
    """The run is over; `view` says how."""

    def __init__(self, view: View) -> None:
        super().__init__(view.reason)
        self.view = view


class MeetingRendezvous(RendezvousHandler):
    """One machine's way into each round."""

    def __init__(self, start: Start, member: Member, tell: Callable[[str], None]) -> None:
        self._start = start
        self._member = member
        self._tell = tell
        self._told = 0.0
        self._server: TCPStore | None = None
        self.view: View | None = None  # of the round that runs here

    @property
    def use_agent_store(self) -> bool:
        return True

    def get_backend(self) -> str:
        return "trainferry"

    def get_run_id(self) -> str:
        return self._start.plan.name

    def is_closed(self) -> bool:
        return False

    def set_closed(self) -> None:
        """The meeting decides when a run is over."""

    def shutdown(self) -> bool:
        self._server = None
        return True

    def num_nodes_waiting(self) -> int:
        """More than none where the ranks that run here have to stop and meet again."""
        return 1 if self.why_to_stop() else 0

    def why_to_stop(self) -> str:
        """Why this round is over though nothing failed here; empty while it goes on."""
        now, ours = self._member.view, self.view
        if now is None or ours is None:
            return ""
        if self._member.is_cut_off:
            return f"{self._where()} has not answered for {self._member.silent_seconds:.0f} s"
        if now.meeting != ours.meeting:
            return f"{self._where()} was started anew"
        if now.phase == "gathering" or now.round != ours.round:
            return now.reason or "the machines meet again"
        return ""

    def next_rendezvous(self) -> RendezvousInfo:
        """Wait until a round begins with this machine in it."""
        self._server = None
        deadline = time.monotonic() + self._start.wait_seconds
        self._told = time.monotonic() + _FIRST_TOLD_SECONDS - _TELL_SECONDS
        while True:
            view = self._wait_for_round(deadline)
            store = self._open_store(view)
            if store:
                self.view = view
                address, _, port = store.rpartition(":")
                place = view.seat_of(self._member.beat.id)
                assert place is not None
                info = RendezvousStoreInfo(address, int(port))
                return RendezvousInfo(HashStore(), place, len(view.roster), info)

    def _wait_for_round(self, deadline: float) -> View:
        member = self._member
        last = self.view
        member.say(state="waiting", store="")
        refused_since: float | None = None
        while True:
            view = member.view
            if view and view.phase == "ended":
                raise RunEndedError(view)
            if view and last and view.meeting != last.meeting and member.beat.round:
                member.say(state="waiting", store="", round=0)  # a new meeting counts anew
                last = None
            elif view and self._is_in(view, member.beat.round):
                return view
            refused_since = self._mind_refusal(view, refused_since)
            if time.monotonic() > deadline:
                raise self._nobody_came(view)
            self._tell_who_is_missing(view)
            member.wait(0.1)

    def _is_in(self, view: View, last_round: int) -> bool:
        is_new = view.round > last_round
        seated = view.seat_of(self._member.beat.id) is not None
        return view.phase == "running" and is_new and seated and not self._member.is_cut_off

    def _open_store(self, view: View) -> str:
        """Where the ranks of the round find each other; empty if the round ended before."""
        member = self._member
        if view.roster[0].id == member.beat.id:
            address = view.roster[0].machine
            self._server = TCPStore(
                address, 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=60)
            )
            store = f"{address}:{self._server.port}"
            member.say(state="running", round=view.round, store=store)
            return store
        member.say(state="running", round=view.round, store="")
        found = member.wait_for(
            lambda now: bool(now.store) or now.round != view.round or now.phase != "running", 60
        )
        is_same = found is not None and found.round == view.round and found.phase == "running"
        return found.store if found and is_same else ""

    def _mind_refusal(self, view: View | None, since: float | None) -> float | None:
        """A machine that was killed is still known for a while; other reasons do not go away."""
        if view is None or not view.refused:
            return None
        if since is not None and time.monotonic() - since > _REFUSED_SECONDS:
            raise self._refused(view)
        return since or time.monotonic()

    def _tell_who_is_missing(self, view: View | None) -> None:
        if time.monotonic() - self._told < _TELL_SECONDS:
            return
        self._told = time.monotonic()
        if view is None or self._member.is_cut_off:
            problem = f" ({self._member.problem})" if self._member.problem else ""
            self._tell(f"waiting for {self._where()}, which does not answer{problem}")
        elif view.refused:
            self._tell(f"{self._where()} does not let this machine in: {view.refused}")
        else:
            self._tell(f"waiting: {_who(view, self._start.plan.nodes)}")

    def _nobody_came(self, view: View | None) -> LaunchError:
        seconds = self._start.wait_seconds
        if view is None or self._member.is_cut_off:
            return LaunchError(
                f"{self._where()} did not answer within {seconds:.0f} s",
                hint="check that the same command runs there, that the name is right, and that "
                "no firewall closes the port",
            )
        if view.refused:
            return self._refused(view)
        return LaunchError(
            f"not all machines came within {seconds:.0f} s: {_who(view, self._start.plan.nodes)}",
            hint="start the same command on the missing ones; --wait SECONDS waits longer",
        )

    def _refused(self, view: View) -> LaunchError:
        return LaunchError(
            f"{self._where()} does not let this machine in: {view.refused}",
            hint="give the same options on all machines, and each its own --node-rank",
        )

    def _where(self) -> str:
        if self._start.rendezvous is None:
            return "the meeting"
        host, port = self._start.rendezvous
        return f"the rendezvous at {host}:{port}"


def _who(view: View, nodes: int) -> str:
    here = f"{len(view.here)} of {nodes} machines are here ({', '.join(view.here)})"
    return here + (f"; missing: {', '.join(view.lost)}" if view.lost else "")
