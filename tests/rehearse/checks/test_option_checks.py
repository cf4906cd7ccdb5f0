"""Options of sessions, loops on the device, and how sessions end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearse.checks.made_up_facts import found, only, op, trained
from trainferry.rehearse.check import check_run
from trainferry.rehearse.facts import End, RunFacts, Session
from trainferry.rehearse.finding import Severity

LOOP = {"iterations_per_loop": 2, "enable_data_pre_proc": True}


@pytest.mark.parametrize(
    ("options", "check", "severity"),
    [
        ({"allow_mix_compile": True}, "unknown-option", Severity.RISK),
        ({"jit_compile": True}, "option-field", Severity.REFUSED),
        ({"precision_mode": True}, "option-field", Severity.REFUSED),
        ({"hcom_parallel": "true"}, "option-field", Severity.RISK),
        ({"precision_mode": "mixed"}, "option-value", Severity.REFUSED),
        ({"deterministic": 2}, "option-value", Severity.RISK),
        ({"dump_path": "all", "dump_debug_mode": "/tmp"}, "swapped-dump-keys", Severity.REFUSED),
        ({"enable_dump": True}, "option-conflict", Severity.REFUSED),
        ({"modify_mixlist": "list.json"}, "option-conflict", Severity.REFUSED),
        ({"input_shape": "x:1"}, "option-conflict", Severity.REFUSED),
        ({"profiling_options": "{}"}, "option-conflict", Severity.RISK),
        ({"use_off_line": False}, "not-on-npu", Severity.REFUSED),
    ],
)
def test_options_have_their_checks(options: dict[str, Any], check: str, severity: Severity) -> None:
    finding = only(trained(op("it", "MatMul"), options=options))
    assert (finding.check, finding.severity) == (check, severity)
    assert finding.places == ("train.py:session",)


def test_a_key_that_is_nearly_right_is_suggested() -> None:
    assert "`precision_mode`" in only(trained(options={"precisionmode": "x"})).hint


def test_of_two_entries_the_later_value_is_looked_at() -> None:
    entries = [{"precision_mode": "wrong"}, {"precision_mode": "allow_mix_precision"}]
    facts = trained(config={"npu_entries": entries})
    finding = only(facts)
    assert finding.check == "two-npu-entries"
    assert "`precision_mode` in more than one" in finding.message


@pytest.mark.parametrize(
    ("config", "check"),
    [
        ({"remapping": "ON"}, "remapping-on"),
        ({"remapping": "DEFAULT"}, "remapping-on"),
        ({"global_jit_level": "ON_1"}, "xla-on"),
        ({"constant_folding": "OFF"}, "graph-optimizers-off"),
        ({"disable_model_pruning": True}, "graph-optimizers-off"),
        ({"auto_mixed_precision": "ON"}, "two-precisions"),
        ({"gpu_options_set": ["allow_growth"]}, "gpu-options"),
        ({"npu_entries": []}, "not-on-npu"),
    ],
)
def test_configurations_have_their_checks(config: dict[str, Any], check: str) -> None:
    assert only(trained(op("it", "MatMul"), config=config)).check == check


def test_a_session_without_the_npu_that_does_not_train_is_nobody_s_business() -> None:
    plain = Session(1, "data.py:3", {"npu_entries": [], "remapping": "DEFAULT"}, closed=False)
    assert check_run([RunFacts(sessions=(plain,), end=End(0, "script"))]) == []


def test_the_same_configuration_of_many_sessions_is_told_once() -> None:
    facts = trained(options={"allow_mix_compile": True})
    more = Session(2, "train.py:other", facts.sessions[0].config, closed=True)
    both = RunFacts(sessions=(facts.sessions[0], more))
    assert only(both).places == ("train.py:session", "train.py:other")


def test_a_loop_needs_a_step_that_is_made_for_it() -> None:
    finding = only(trained(op("it", "MatMul"), options=LOOP))
    assert (finding.check, finding.places) == ("loop-not-set", ("train.py:run",))
    assert check_run([trained(op("IterationOp", "NoOp"), options=LOOP)]) == []


def test_a_loop_needs_its_data_on_the_device() -> None:
    facts = trained(op("IterationOp", "NoOp"), options={"iterations_per_loop": 2})
    assert "enable_data_pre_proc" in only(facts).message


def test_a_loop_takes_neither_feeds_nor_one_shot_iterators_nor_summaries() -> None:
    facts = trained(
        op("IterationOp", "NoOp"),
        op("iterator", "OneShotIterator", dtype="resource"),
        op("loss", "ScalarSummary", dtype="string"),
        options=LOOP,
        feeds=("x:0",),
    )
    told = {one.check for one in check_run([facts])}
    assert told == {"loop-with-feeds", "loop-with-one-shot", "summary-in-loop"}


def test_summaries_of_single_steps_do_no_harm() -> None:
    assert check_run([trained(op("loss", "ScalarSummary", dtype="string"))]) == []


def test_a_summary_within_a_loop_of_the_graph_is_found() -> None:
    facts = trained(op("enter", "Enter"), op("loss", "ScalarSummary", ["enter"], dtype="string"))
    assert len(found(facts, "summary-in-loop")) == 1


def test_sessions_must_be_closed_by_the_script() -> None:
    facts = trained(op("it", "MatMul"))
    left = Session(1, "train.py:session", facts.sessions[0].config, closed=False)
    told = RunFacts(**{**vars(facts), "sessions": (left,)})
    assert only(told).check == "unclosed-session"


def test_a_script_that_was_stopped_could_not_close_anything() -> None:
    facts = trained(op("it", "MatMul"), end=End(10, "limit", cut=True), inits=("train.py:1",))
    left = Session(1, "train.py:session", facts.sessions[0].config, closed=False)
    told = RunFacts(**{**vars(facts), "sessions": (left,)})
    assert check_run([told]) == []


def test_what_is_started_must_be_ended() -> None:
    assert only(trained(inits=("train.py:1",))).places == ("train.py:1",)
    assert check_run([trained(inits=("train.py:1",), shutdowns=("train.py:9",))]) == []


def test_what_keras_sets_by_itself_for_gpus_is_not_told() -> None:
    assert check_run([trained(config={"gpu_options_set": ["experimental"]})]) == []
