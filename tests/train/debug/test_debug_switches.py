"""What `--debug` accepts, and what it says to all else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.train.cases import CASES
from trainferry.errors import UsageError
from trainferry.train.debug.attach import attach_observers
from trainferry.train.debug.switches import (
    DumpSwitch,
    OneBatch,
    OverflowSwitch,
    ProfileSwitch,
    parse_one_batch,
    parse_switches,
    show_bytes,
)
from trainferry.train.journal import Event, Said


def test_switches_are_read() -> None:
    assert parse_switches(["overflow"]) == (OverflowSwitch(),)
    assert parse_switches(["overflow=bf16"]) == (OverflowSwitch("bf16"),)
    assert parse_switches(["profile=10:3"]) == (ProfileSwitch(10, 3),)
    assert parse_switches(["profile=10"]) == (ProfileSwitch(10, 1),)
    both = parse_switches(["dump=1,10-12:*.conv1:2GiB", "overflow"])
    assert both == (
        DumpSwitch((range(1, 2), range(10, 13)), "*.conv1", 2 * 1024**3),
        OverflowSwitch(),
    )


def test_steps_may_be_written_as_the_originals_write_them() -> None:
    (switch,) = parse_switches(["dump=1|3-5|10"])
    assert isinstance(switch, DumpSwitch)
    assert [step for step in range(12) if switch.holds(step)] == [1, 3, 4, 5, 10]


@pytest.mark.parametrize(
    ("texts", "problem", "hint"),
    [
        (["overflows"], "nothing called `overflows`", "did you mean `overflow`"),
        (["one_batch"], "nothing called `one_batch`", "did you mean `one-batch`"),
        (["xyz"], "nothing called `xyz`", "overflow, dump, profile, one-batch"),
        (["overflow=fp8"], "no number format", "fp16, bf16, fp32"),
        (["dump"], "no step to dump", "the first step is 1"),
        (["dump=0"], "`0` says no step", "the first step is 1"),
        (["dump=5-3"], "`5-3` says no step", "dump=1,10-12"),
        (["dump=1:*:5"], "`5` is no size", "8GiB"),
        (["profile"], "does not say which steps", "profile=10:3"),
        (["profile=0:2"], "does not say which steps", "the first step is 1"),
        (["profile=3:0"], "does not say which steps", "profile=10:3"),
        (["profile=1:99999"], "does not say which steps", "at most 1000"),
        (["dump=1", "dump=2"], "given twice", "dump=10,20-22"),
        (["overflow", "profile=1"], "has not its usual time", "one after the other"),
    ],
)
def test_wrong_switches_get_a_hint(texts: list[str], problem: str, hint: str) -> None:
    with pytest.raises(UsageError, match=problem) as raised:
        parse_switches(texts)
    assert hint in raised.value.hint


def test_one_batch_is_read() -> None:
    assert parse_one_batch([]) is None
    assert parse_one_batch(["overflow", "dump=1"]) is None
    assert parse_one_batch(["one-batch"]) == OneBatch(300)
    assert parse_one_batch(["one-batch=20"]) == OneBatch(20)


@pytest.mark.parametrize("other", ["overflow", "one-batch=20"])
def test_one_batch_stands_alone(other: str) -> None:
    with pytest.raises(UsageError, match="trains no run that another --debug could look at"):
        parse_one_batch([other, "one-batch"])


def test_recorded_graphs_are_off_while_debugging_and_it_is_said(tmp_path: Path) -> None:
    case = CASES[0]
    run = case.build(case.make_data(tmp_path / "data"), tmp_path / "run")
    run.captures = True
    events: list[Event] = []
    attach_observers(run, parse_switches(["overflow"]), events.append).close()
    assert not run.captures
    (said,) = (event.text for event in events if isinstance(event, Said))
    assert "recorded graphs (loop.captured) are off" in said


def test_without_switches_nothing_is_attached(tmp_path: Path) -> None:
    case = CASES[0]
    run = case.build(case.make_data(tmp_path / "data"), tmp_path / "run")
    run.captures = True
    assert attach_observers(run, (), lambda _: None).each == ()
    assert run.captures


def test_sizes_are_shown_as_people_say_them() -> None:
    assert [show_bytes(n) for n in (12, 2048, 3 * 1024**3)] == ["12 bytes", "2.0 KiB", "3.0 GiB"]
