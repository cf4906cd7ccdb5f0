"""A meeting answers over the network, and a member notices when it does not."""

from __future__ import annotations

import socket
import time

import pytest

from tests.launch.start.machines import Machine, free_port, rules
from trainferry.errors import LaunchError
from trainferry.launch.start.meeting import Meeting
from trainferry.launch.start.meeting_server import ask, is_held, serving
from trainferry.launch.start.member import Member
from trainferry.launch.start.messages import Beat, View


def test_questions_are_answered_and_noise_is_not() -> None:
    meeting = Meeting(rules())
    beat = Machine(meeting, "127.0.0.1").beat
    with serving(meeting, 0, linger_seconds=0) as port:
        with socket.create_connection(("127.0.0.1", port)) as noise:
            noise.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert noise.recv(10) == b""
        assert ask("127.0.0.1", port, beat).here == ("127.0.0.1",)
        assert is_held("localhost", port, beat)


def test_a_port_that_is_taken_is_an_error_that_says_so() -> None:
    with socket.create_server(("", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LaunchError, match=f"port {port}"), serving(Meeting(rules()), port):
            pass


def test_nobody_is_no_meeting() -> None:
    assert not is_held("127.0.0.1", free_port(), Machine(Meeting(rules()), "a").beat)


def test_a_member_knows_that_it_is_cut_off_and_that_it_is_back() -> None:
    meeting = Meeting(rules())
    is_down = False

    def answer(beat: Beat) -> View:
        if is_down:
            raise TimeoutError("timed out")
        return meeting.hear(beat)

    beat = Machine(meeting, "127.0.0.1").beat
    member = Member(beat, answer, seconds=0.01, silence_seconds=0.05)
    assert member.wait_for(lambda view: view.phase == "gathering", 10) is not None
    is_down = True
    _until(lambda: member.is_cut_off)
    assert member.problem == "timed out"
    is_down = False
    _until(lambda: not member.is_cut_off)
    member.leave("it ended")
    assert meeting.is_empty()


def _until(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
