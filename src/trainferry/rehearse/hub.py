"""Joins the ranks of a rehearsal: passes tensors on, and tells where the device would hang.

Every rank sends its part of a collective with a tag; the hub answers all of them when the
last part has come. It never computes: ranks reduce what they receive, in rank order, and so
get the same bits. What cannot be joined is told with ranks, operators and lines, and ends
the waiting of all ranks.
"""

from __future__ import annotations

import contextlib
import functools
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainferry.rehearse.hub_checks import HubFinding, Request, check_parts, check_plans
from trainferry.rehearse.hub_wire import read_message, send_message

Posts = Callable[[int, dict[str, Any]], None]


@dataclass
class _Rank:
    connection: socket.socket
    writing: threading.Lock = field(default_factory=threading.Lock)


class Hub:
    """Listens on a socket; ranks come and go. `findings` tells what went wrong."""

    def __init__(
        self,
        path: Path,
        ranks: int,
        *,
        stall_seconds: float = 60.0,
        grace_seconds: float = 5.0,
        on_post: Posts | None = None,
    ) -> None:
        self.path = path
        self.findings: list[HubFinding] = []
        self._ranks = ranks
        self._stall_seconds = stall_seconds
        self._grace_seconds = grace_seconds
        self._on_post = on_post
        self._lock = threading.RLock()
        self._lines: dict[int, _Rank] = {}
        self._left: dict[int, float] = {}
        self._pending: dict[str, dict[int, Request]] = {}
        self._plans: dict[int, dict[int, dict[str, Any]]] = {}
        self._runs: Counter[int] = Counter()
        self._broken: str | None = None
        self._heard = time.monotonic()
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(self.path))
        self._server.listen(self._ranks)
        self._run(self._accept)
        self._run(self._watch)

    def stop(self) -> None:
        """End all waiting and close; the socket's file goes too."""
        self._stopped.set()
        with self._lock:
            self._answer_all("the rehearsal has ended")
            lines = list(self._lines.values())
        for line in lines:
            _hang_up(line.connection)
        _hang_up(self._server)
        for thread in self._threads:
            thread.join()
        self._server.close()
        self.path.unlink(missing_ok=True)

    def rank_ended(self, rank: int) -> None:
        """Tell the hub that a rank has ended for good; it may never have called."""
        with self._lock:
            self._left[rank] = time.monotonic() - self._grace_seconds
            self._check_left()

    def __enter__(self) -> Hub:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self._run(functools.partial(self._serve, connection))

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream:
            message = read_message(stream)
            if message is None or message[0]["kind"] != "hello":
                return
            rank = int(message[0]["rank"])
            with self._lock:
                if rank in self._lines:
                    _turn_away(connection, rank, message[0]["pid"])
                    return
                self._lines[rank] = _Rank(connection)
                self._left.pop(rank, None)
            while (message := read_message(stream)) is not None:
                self._take(rank, *message)
            self._leave(rank)

    def _take(self, rank: int, header: dict[str, Any], payload: bytes) -> None:
        with self._lock:
            self._heard = time.monotonic()
            if header["kind"] == "plan":
                self._compare_plan(rank, header)
            elif header["kind"] == "post":
                if self._on_post:
                    self._on_post(rank, header)
            else:
                self._join(Request(rank, header, payload))

    def _join(self, request: Request) -> None:
        if self._broken:
            self._refuse(request, self._broken)
            return
        waiting = self._pending.setdefault(request.key, {})
        waiting[request.rank] = request
        finding = check_parts(list(waiting.values())) or self._missing(waiting)
        if finding:
            self._fail(finding)
        elif set(request.members) == set(waiting):
            del self._pending[request.key]
            for receiver in waiting.values():
                self._send(receiver, list(receiver.parts(waiting)))

    def _missing(self, waiting: dict[int, Request]) -> HubFinding | None:
        """A rank that has ended will never send its part."""
        request = next(iter(waiting.values()))
        latest = time.monotonic() - self._grace_seconds
        gone = [
            rank
            for rank in request.members
            if rank not in waiting and self._left.get(rank, latest + 1) <= latest
        ]
        if not gone:
            return None
        return HubFinding.left(gone, list(waiting.values()))

    def _compare_plan(self, rank: int, header: dict[str, Any]) -> None:
        """The runs of all ranks that hold collectives are compared one by one."""
        number = self._runs[rank]
        self._runs[rank] += 1
        plans = self._plans.setdefault(number, {})
        plans[rank] = header
        if len(plans) == self._ranks:
            del self._plans[number]
        finding = check_plans(number, plans)
        if finding and not self._broken:
            self._fail(finding)

    def _leave(self, rank: int) -> None:
        """A line has closed; the next program of the same rank may call within the grace."""
        with self._lock:
            self._lines.pop(rank, None)
            self._left[rank] = time.monotonic()
            for waiting in self._pending.values():
                waiting.pop(rank, None)

    def _watch(self) -> None:
        while not self._stopped.wait(min(1.0, self._stall_seconds / 4, self._grace_seconds / 4)):
            with self._lock:
                self._check_left()
                self._check_stalled()

    def _check_left(self) -> None:
        for waiting in list(self._pending.values()):
            finding = self._missing(waiting) if waiting else None
            if finding:
                self._fail(finding)
                return

    def _check_stalled(self) -> None:
        """All ranks wait, none for what another waits for, and nothing comes any more."""
        waiting = [request for part in self._pending.values() for request in part.values()]
        everyone = {request.rank for request in waiting} >= set(range(self._ranks))
        silent = time.monotonic() - self._heard > self._stall_seconds
        if everyone and silent:
            self._fail(HubFinding.stalled(waiting))

    def _fail(self, finding: HubFinding) -> None:
        self.findings.append(finding)
        self._broken = finding.message
        self._answer_all(finding.message)

    def _answer_all(self, message: str) -> None:
        for waiting in self._pending.values():
            for request in waiting.values():
                self._refuse(request, message)
        self._pending.clear()

    def _refuse(self, request: Request, message: str) -> None:
        self._write(request, {"error": message}, b"")

    def _send(self, receiver: Request, parts: list[Request]) -> None:
        described = [
            {"rank": part.rank, "tensors": part.header["tensors"], "bytes": len(part.payload)}
            for part in parts
        ]
        self._write(receiver, {"parts": described}, b"".join(part.payload for part in parts))

    def _write(self, receiver: Request, header: dict[str, Any], payload: bytes) -> None:
        line = self._lines.get(receiver.rank)
        if line is None:
            return
        # A rank that went while its answer was on the way is told of by `_leave`.
        with line.writing, contextlib.suppress(OSError):
            send_message(line.connection, {**header, "id": receiver.header["id"]}, payload)


def _turn_away(connection: socket.socket, rank: int, process: int) -> None:
    """Two processes cannot be one rank; a device belongs to one of them."""
    text = f"process {process} calls as rank {rank}, which another process is already"
    send_message(connection, {"id": 0, "error": text})


def _hang_up(connection: socket.socket) -> None:
    """Wake the thread that reads or accepts here; it closes what it opened."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
