"""The meeting over the network: one line asks, one line answers, and the connection ends.

Nothing waits without a limit and nothing is kept between two questions, so that a machine which
was cut off needs one answer to be back.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

from trainferry.errors import LaunchError
from trainferry.launch.start.meeting import Meeting
from trainferry.launch.start.messages import LONGEST_LINE, Beat, View, read_beat, read_view, to_line

ANSWER_SECONDS = 2.0


def ask(host: str, port: int, beat: Beat) -> View:
    """Tell the meeting at `host` how this machine is; raises OSError without an answer."""
    with socket.create_connection((host, port), timeout=ANSWER_SECONDS) as connection:
        connection.sendall(to_line(beat))
        with connection.makefile("rb") as answers:
            line = answers.readline(LONGEST_LINE)
    try:
        return read_view(line)
    except (ValueError, KeyError, TypeError) as error:
        raise ConnectionError(f"what answers at {host}:{port} is no meeting") from error


@contextlib.contextmanager
def serving(meeting: Meeting, port: int, linger_seconds: float = 10.0) -> Iterator[int]:
    """Answer on `port`, 0 for any; at the end wait until the machines know how it ended."""
    server = _listen(meeting, port)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
        deadline = time.monotonic() + linger_seconds
        while not meeting.is_empty() and time.monotonic() < deadline:
            time.sleep(0.1)
    finally:
        server.shutdown()
        server.server_close()


def is_held(host: str, port: int, beat: Beat) -> bool:
    """Whether another launcher on this machine holds the meeting there."""
    try:
        ask(host, port, replace(beat, state="left"))
    except OSError:
        return False
    return True


def _listen(meeting: Meeting, port: int) -> _Server:
    try:
        return _Server(meeting, port)
    except OSError as error:
        raise LaunchError(
            f"this machine cannot hold the meeting on port {port}: {error.strerror}",
            hint="choose another port with --rendezvous HOST:PORT, on all machines",
        ) from error


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, meeting: Meeting, port: int) -> None:
        self.meeting = meeting
        if socket.has_dualstack_ipv6():
            self.address_family = socket.AF_INET6
        super().__init__(("", port), _Question)

    def server_bind(self) -> None:
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever asks without waiting for the answer asks again."""


class _Question(socketserver.StreamRequestHandler):
    timeout = ANSWER_SECONDS

    def handle(self) -> None:
        line = self.rfile.readline(LONGEST_LINE)
        try:
            beat = read_beat(line)
        except (ValueError, KeyError, TypeError):
            return  # a port scanner, or another program's mistake: there is nobody to answer
        server = self.server
        assert isinstance(server, _Server)
        self.wfile.write(to_line(server.meeting.hear(beat)))
