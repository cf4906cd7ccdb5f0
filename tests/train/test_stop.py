"""Signals that end a training with a checkpoint, and those that end it at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from trainferry.devices.collectives import ALONE
from trainferry.train.stop import INTERRUPTED, STOPPING, TERMINATED, Stop, exit_status


@pytest.fixture
def told() -> Iterator[list[str]]:
    """What is said; with Ctrl-C as a program in the foreground has it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield []
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("number", "reason", "said"),
    [(signal.SIGINT, INTERRUPTED, [STOPPING]), (signal.SIGTERM, TERMINATED, [])],
)
def test_the_first_signal_lets_the_step_end(
    told: list[str], number: signal.Signals, reason: str, said: list[str]
) -> None:
    with Stop(ALONE, told.append) as stop:
        assert stop.reason(0) is None
        os.kill(os.getpid(), number)
        assert stop.reason(1) == reason
    assert told == said
    assert exit_status(reason) == 128 + number


def test_ctrl_c_once_more_stops_at_once(told: list[str]) -> None:
    with Stop(ALONE, told.append):
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_launchers_sigterm_behind_ctrl_c_is_no_second_one(told: list[str]) -> None:
    with Stop(ALONE, told.append) as stop:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.reason(0) == INTERRUPTED
    assert told == [STOPPING]


def test_a_program_in_the_background_does_not_hear_ctrl_c(told: list[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Stop(ALONE, told.append) as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.reason(0) is None
    assert told == []


def test_training_that_ends_by_itself_ends_well() -> None:
    assert exit_status("all steps done") == 0
