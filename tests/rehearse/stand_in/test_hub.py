"""The hub with ranks that need no TensorFlow."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.rehearse.stand_in.tensorflows import HERE, run_ranks
from trainferry.rehearse.hub import Hub
from trainferry.rehearse.hub_wire import read_message, send_message

PLAIN = HERE / "ranks" / "plain.py"


@pytest.mark.cluster
def test_threads_share_one_line_and_do_not_mix_their_messages(tmp_path: Path) -> None:
    done, hub = run_ranks(PLAIN, "", 2, tmp_path, "together")
    assert [process.returncode for process in done] == [0, 0], done[0].stderr
    assert hub.findings == []


@pytest.mark.cluster
def test_a_scalar_stays_a_scalar(tmp_path: Path) -> None:
    done, _ = run_ranks(PLAIN, "", 2, tmp_path, "scalar")
    assert [process.stdout for process in done] == ["done\n", "done\n"], done[0].stderr


@pytest.mark.cluster
def test_a_rank_that_left_is_named_with_the_operator_and_the_line(tmp_path: Path) -> None:
    done, hub = run_ranks(PLAIN, "", 2, tmp_path, "leave")
    (finding,) = hub.findings
    assert finding.name == "rank-left"
    assert "rank 1 left while others waited for it: on the device this run would hang" in (
        finding.message
    )
    assert "rank 0: allreduce `alone` at plain.py:1" in finding.message
    assert "WouldHang" in done[0].stderr


class Rank:
    """A rank in this process, which says what it likes."""

    def __init__(self, hub: Hub, rank: int) -> None:
        self.line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.line.connect(str(hub.path))
        self.line.settimeout(20)
        self.stream = self.line.makefile("rb")
        send_message(self.line, {"kind": "hello", "rank": rank, "pid": rank})

    def __enter__(self) -> Rank:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self.line.close()

    def say(self, kind: str, **more: Any) -> None:
        send_message(self.line, {"kind": kind, **more})

    def ask(self, tag: str, payload: bytes = b"") -> None:
        header = {"id": 1, "kind": "allgather", "tag": tag, "group": "world", "members": [0, 1]}
        rest = {"operator": tag, "place": "x.py:1", "options": {}, "tensors": [["int8", [1]]]}
        send_message(self.line, {**header, **rest}, payload)

    def hear(self) -> tuple[dict[str, Any], bytes]:
        message = read_message(self.stream)
        assert message is not None
        return message


def test_a_rank_that_never_called_can_be_reported(tmp_path: Path) -> None:
    with Hub(tmp_path / "hub", 2) as hub, Rank(hub, 0) as first:
        first.ask("sum")
        hub.rank_ended(1)
        assert "rank 1 left" in first.hear()[0]["error"]


def test_the_next_program_of_a_rank_may_take_its_place(tmp_path: Path) -> None:
    with Hub(tmp_path / "hub", 2) as hub, Rank(hub, 0) as first:
        with Rank(hub, 1):
            while 1 not in hub._lines:
                time.sleep(0.01)
        while 1 in hub._lines:
            time.sleep(0.01)
        first.ask("sum", b"a")
        with Rank(hub, 1) as second:
            second.ask("sum", b"b")
            assert first.hear()[1] == second.hear()[1] == b"ab"
    assert hub.findings == []


def test_a_second_process_cannot_be_the_same_rank(tmp_path: Path) -> None:
    with Hub(tmp_path / "hub", 2) as hub, Rank(hub, 0) as first:
        first.say("post")
        while 0 not in hub._lines:
            time.sleep(0.01)
        with Rank(hub, 0) as child:
            assert "another process" in child.hear()[0]["error"]
        assert 0 in hub._lines


def test_posts_reach_whoever_listens(tmp_path: Path) -> None:
    heard: list[tuple[int, str]] = []
    with (
        Hub(tmp_path / "hub", 2, on_post=lambda rank, post: heard.append((rank, post["x"]))) as hub,
        Rank(hub, 1) as rank,
    ):
        rank.say("post", x="loss")
        while not heard:
            time.sleep(0.01)
    assert heard == [(1, "loss")]


def test_noise_on_the_socket_does_no_harm(tmp_path: Path) -> None:
    with Hub(tmp_path / "hub", 2) as hub:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as noise:
            noise.connect(str(hub.path))
            noise.sendall(b"\x00\x00\x00\x05hello there")
        with Rank(hub, 0) as first, Rank(hub, 1) as second:
            first.ask("sum", b"a")
            second.ask("sum", b"b")
            assert first.hear()[1] == b"ab"
