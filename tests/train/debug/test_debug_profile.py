"""A profile opens as a trace, and tells the time of each phase and operator."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.train.cases import CASES, TinyCase
from tests.train.debug.watched import train_watched
from trainferry.errors import UsageError
from trainferry.train.debug.attach import attach_observers
from trainferry.train.debug.profile import PHASES
from trainferry.train.debug.switches import parse_switches
from trainferry.train.journal import Event
from trainferry.train.loop import train

WORDS, PHOTOS = CASES[:2]


def read_trace(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path) as file:
        events: list[dict[str, Any]] = json.load(file)["traceEvents"]
    return events


@pytest.mark.parametrize("case", [WORDS, PHOTOS], ids=lambda case: case.name)
def test_the_trace_holds_the_phases_of_the_chosen_steps_and_their_operators(
    case: TinyCase, words: Path, photos: Path, tmp_path: Path
) -> None:
    run = case.build(words if case is WORDS else photos, tmp_path / "run", "schedule.steps=5")
    said = train_watched(run, "profile=3:2")
    path = run.folder / "profiles" / "steps-00000003-00000004.json.gz"
    whole = [event for event in read_trace(path) if event.get("ph") == "X"]
    assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in whole)
    names = [event["name"] for event in whole if event.get("cat") == "user_annotation"]
    assert {phase: names.count(phase) for phase in PHASES} == dict.fromkeys(PHASES, 2)
    operators = {event["name"] for event in whole if event.get("cat") == "cpu_op"}
    assert {"aten::conv2d", "aten::convolution_backward"} <= operators
    (table,) = (text for text in said if "ms per step" in text)
    assert all(phase in table for phase in PHASES)
    assert "aten::" in table
    written = path.with_name("steps-00000003-00000004.txt").read_text()
    assert written.strip() in table.replace("\n  ", "\n")


def test_phases_follow_each_other_in_the_order_of_a_step(words: Path, tmp_path: Path) -> None:
    run = WORDS.build(words, tmp_path / "run", "schedule.steps=2")
    train_watched(run, "profile=2")
    events = read_trace(run.folder / "profiles" / "steps-00000002-00000002.json.gz")
    phases = [event for event in events if event.get("cat") == "user_annotation"]
    ordered = sorted((event for event in phases if event["name"] in PHASES), key=_start)
    assert [event["name"] for event in ordered] == list(PHASES)
    for one, next_ in itertools.pairwise(ordered):
        assert _start(one) + one["dur"] <= _start(next_)


def test_what_one_thread_does_is_nested_or_one_after_the_other(words: Path, tmp_path: Path) -> None:
    run = WORDS.build(words, tmp_path / "run", "schedule.steps=2", "optimizer.accumulation=2")
    train_watched(run, "profile=2")
    events = read_trace(run.folder / "profiles" / "steps-00000002-00000002.json.gz")
    threads: dict[tuple[object, object], list[dict[str, Any]]] = {}
    for event in events:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append(event)
    for marks in threads.values():
        ends: list[float] = []
        for event in sorted(marks, key=lambda mark: (_start(mark), -mark["dur"])):
            while ends and ends[-1] <= _start(event):
                ends.pop()
            end = _start(event) + event["dur"]
            assert not ends or end <= ends[-1] + 0.01, event["name"]  # microseconds
            ends.append(end)


def _start(event: dict[str, Any]) -> float:
    return float(event["ts"])


def test_the_emulated_npu_can_be_profiled_as_the_program_sees_it(
    words: Path, tmp_path: Path, emulated_npu: torch.device
) -> None:
    run = WORDS.build(words, tmp_path / "run", "schedule.steps=2", device=emulated_npu)
    said = train_watched(run, "profile=1:1")
    assert any("ms per step" in text for text in said)


def test_a_profile_that_training_ends_within_is_still_written(words: Path, tmp_path: Path) -> None:
    run = WORDS.build(words, tmp_path / "run", "schedule.steps=8")

    class StopError(Exception):
        pass

    def tell(_: Event) -> None:
        if run.step >= 5:
            raise StopError

    observers = attach_observers(run, parse_switches(["profile=4:4"]), lambda _: None)
    with pytest.raises(StopError):
        train(run, tell, observers)
    observers.close()
    assert read_trace(run.folder / "profiles" / "steps-00000004-00000007.json.gz")


def test_a_profile_is_never_overwritten_and_its_steps_must_be_trained(
    words: Path, tmp_path: Path
) -> None:
    run = WORDS.build(words, tmp_path / "run", "schedule.steps=2")
    for switch, problem in (("profile=2:2", "the run ends with 2"), ("profile=9", "ends with 2")):
        with pytest.raises(UsageError, match=problem):
            attach_observers(run, parse_switches([switch]), lambda _: None)
    path = run.folder / "profiles" / "steps-00000001-00000001.json.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"kept")
    with pytest.raises(UsageError, match="is there already"):
        attach_observers(run, parse_switches(["profile=1"]), lambda _: None)
    assert path.read_bytes() == b"kept"
