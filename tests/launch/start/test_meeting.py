"""Machines agree who takes part, who is lost, which rank failed first, and when to start again."""

from __future__ import annotations

import json

import pytest

from tests.launch.start.machines import Clock, Machine, rules
from trainferry.launch.start.failure import RankFailure
from trainferry.launch.start.meeting import Meeting
from trainferry.launch.start.messages import Beat, View, read_beat, read_view, to_line


def test_a_round_begins_when_all_machines_are_here() -> None:
    meeting = Meeting(rules())
    one, two = Machine(meeting, "10.0.0.10"), Machine(meeting, "10.0.0.9")
    assert one.say().phase == "gathering"
    view = two.say()
    assert (view.phase, view.round) == ("running", 1)
    assert [seat.machine for seat in view.roster] == ["10.0.0.9", "10.0.0.10"]


def test_the_numbers_of_machines_decide_their_order() -> None:
    meeting = Meeting(rules())
    Machine(meeting, "10.0.0.1", node=1).say()
    view = Machine(meeting, "10.0.0.2", node=0).say()
    assert [seat.machine for seat in view.roster] == ["10.0.0.2", "10.0.0.1"]


def test_the_first_machine_says_where_the_ranks_meet() -> None:
    _, one, two, _ = _running()
    one.say(store="10.0.0.1:4000")
    assert two.say().store == "10.0.0.1:4000"


def test_a_silent_machine_is_named_and_awaited() -> None:
    _, one, two, clock = _running()
    clock.now += 6
    one.say()
    clock.now += 3
    view = one.say()
    assert view.phase == "gathering"
    assert view.reason == "machine 10.0.0.2 has not answered for 9 s"
    assert view.lost == ("10.0.0.2",)
    assert one.say(state="waiting").phase == "gathering"
    assert two.say().phase == "gathering"  # it is back, and its ranks still run
    view = two.say(state="waiting")
    assert (view.phase, view.round, view.lost, view.restarts) == ("running", 2, (), 0)


def test_without_restarts_a_silent_machine_ends_the_run() -> None:
    _, one, _, clock = _running(restarts=0)
    clock.now += 6
    one.say()
    clock.now += 3
    view = one.say()
    assert (view.phase, view.reason) == ("ended", "machine 10.0.0.2 has not answered for 9 s")


def test_the_rank_that_failed_first_is_the_cause_whoever_reports_first() -> None:
    _, one, two, clock = _running()
    one.fail(rank=0, before=0.1)
    clock.now += 0.5
    two.fail(rank=3, code=-9, before=0.9)
    clock.now += 0.6
    view = one.say()
    assert view.failure is not None
    assert view.failure.sentence() == "rank 3 on 10.0.0.2 failed with signal SIGKILL"
    assert (view.phase, view.restarts) == ("gathering", 1)


def test_after_the_last_restart_a_failure_ends_the_run() -> None:
    _, one, two, clock = _running()
    for phase in ("gathering", "ended"):
        one.fail(rank=1)
        clock.now += 1.1
        assert two.say().phase == phase
        one.say(state="waiting"), two.say(state="waiting")
        one.join(), two.join()


def test_a_command_that_no_rank_understands_is_not_started_again() -> None:
    _, one, two, clock = _running()
    one.fail(rank=1, code=2)
    clock.now += 1.1
    view = two.say()
    assert (view.phase, view.restarts) == ("ended", 0)
    assert view.reason == "rank 1 on 10.0.0.1 failed with exit code 2"


def test_a_run_ends_when_all_ranks_of_all_machines_ended_well() -> None:
    _, one, two, _ = _running()
    assert one.say(state="done").phase == "running"
    view = two.say(state="done")
    assert (view.phase, view.reason) == ("ended", "")


def test_a_machine_that_is_done_starts_again_with_the_others() -> None:
    _, one, two, clock = _running()
    one.say(state="done")
    two.fail(rank=2)
    clock.now += 1.1
    assert one.say().phase == "gathering"


def test_a_machine_that_is_stopped_ends_a_run_that_needs_it() -> None:
    _, one, two, _ = _running()
    two.say(state="left", reason="stopped by SIGTERM")
    view = one.say()
    assert (view.phase, view.reason) == ("ended", "machine 10.0.0.2 left: stopped by SIGTERM")


def test_a_machine_that_lost_contact_and_came_back_early_starts_all_again() -> None:
    _, one, two, _ = _running()
    view = two.say(state="waiting")
    assert (view.phase, view.reason) == (
        "gathering",
        "machine 10.0.0.2 lost contact and stopped its ranks",
    )
    assert one.say(state="waiting").round == 2


def test_an_elastic_run_waits_a_while_and_then_starts_with_fewer() -> None:
    clock = Clock()
    meeting = Meeting(rules(least=1, most=3), clock)
    one, two = Machine(meeting, "10.0.0.1"), Machine(meeting, "10.0.0.2")
    one.say(), two.say()
    clock.now += 5
    one.say(), two.say()
    clock.now += 5
    one.say(), two.say()
    clock.now += 5.1
    assert two.say().phase == "running"
    one.join(), two.join()
    three = Machine(meeting, "10.0.0.3")
    view = three.say()
    assert (view.phase, view.reason) == ("gathering", "machine 10.0.0.3 joins")


def test_an_elastic_run_goes_on_without_a_machine_that_leaves() -> None:
    _, one, two, clock = _running(least=1)
    two.say(state="left", reason="stopped by SIGTERM")
    assert one.say(state="waiting").phase == "gathering"
    for _ in range(4):
        clock.now += 5
        view = one.say()
    assert (view.phase, len(view.roster)) == ("running", 1)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"job": "other"}, "here the run `run` is held, not `other`"),
        ({"devices": 4}, "it starts 4 ranks, the others 2"),
        ({"node": 0}, "10.0.0.1 is machine number 0 already"),
    ],
)
def test_a_machine_that_does_not_fit_is_refused(changed: dict[str, object], said: str) -> None:
    meeting = Meeting(rules())
    Machine(meeting, "10.0.0.1", node=0).say()
    view = Machine(meeting, "10.0.0.2").say(**changed)
    assert view.refused == said
    assert view.phase == "gathering"


def test_messages_survive_the_way() -> None:
    failure = RankFailure(3, "10.0.0.2", -9, "a.log", ("读", "y"), ("EI0006", "-> wait"))
    beat = Beat(job="run", id="a", machine="m", devices=2, state="running", failure=failure)
    assert read_beat(to_line(beat)) == beat
    meeting = Meeting(rules())
    view = meeting.hear(Machine(meeting, "m").beat)
    assert read_view(to_line(view)) == view


@pytest.mark.parametrize(
    "line",
    [
        b"GET / HTTP/1.1\n",
        b"",
        b"[]\n",
        b"{}\n",
        b"\xff\n",
        json.dumps({"state": "running"}).encode(),
        to_line(Beat(job="r", id="a", machine="m", devices=2, state="left")).replace(b"2", b'"2"'),
    ],
)
def test_what_is_no_beat_is_not_taken_for_one(line: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        read_beat(line)


def _running(**changed: int) -> tuple[Meeting, Machine, Machine, Clock]:
    """Two machines that run the ranks of the first round."""
    clock = Clock()
    meeting = Meeting(rules(**changed), clock)
    one, two = Machine(meeting, "10.0.0.1"), Machine(meeting, "10.0.0.2")
    one.say(), two.say()
    views: list[View] = [one.join(), two.join()]
    assert views[-1].phase == "running"
    return meeting, one, two, clock
