"""The journal: one JSON object a line, whatever happened to the line before."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest

from trainferry.errors import DataError
from trainferry.train.journal import (
    Ended,
    Evaluated,
    Journal,
    Logged,
    Said,
    Saved,
    Started,
    read_journal,
)
from trainferry.train.tasks.task import Example

LOGGED = Logged(5, 1.5, 0.001, 200.0, 0.05, 12.0)


def write(folder: Path, *events: Started | Logged | Evaluated | Saved | Said | Ended) -> None:
    journal = Journal(folder)
    for event in events:
        journal.write(event)
    journal.close()


def test_every_event_is_one_line(tmp_path: Path) -> None:
    examples = (Example(0, "fähre", "fahre", 0.9),)
    write(
        tmp_path,
        Started(0, 20, "cpu", {"samples": 7}),
        LOGGED,
        Evaluated(5, {"sequence_accuracy": 0.5}, True, examples),
        Saved(5, "run/checkpoints/step-00000005"),
        Said(5, "two\nlines"),
        Ended(5, "all steps done", 1.0),
    )
    lines = (tmp_path / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    assert [entry["event"] for entry in entries] == [
        "started",
        "logged",
        "evaluated",
        "saved",
        "said",
        "ended",
    ]
    assert entries[1]["images_per_second"] == 200.0
    assert entries[2]["examples"][0]["truth"] == "fähre"
    assert all(entry["time"] > 1e9 for entry in entries)
    assert list(read_journal(tmp_path)) == entries


def test_a_run_that_goes_on_adds_to_its_journal(tmp_path: Path) -> None:
    write(tmp_path, Started(0, 20, "cpu"), LOGGED)
    write(tmp_path, Started(5, 20, "cpu"))
    assert [entry["step"] for entry in read_journal(tmp_path)] == [0, 5, 5]


def test_a_line_cut_off_by_a_crash_spoils_no_other(tmp_path: Path) -> None:
    write(tmp_path, Started(0, 20, "cpu"), LOGGED)
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    write(tmp_path, Started(3, 20, "cpu"))
    assert [entry["event"] for entry in read_journal(tmp_path)] == ["started", "started"]


def test_a_path_that_is_no_utf8_is_read_as_it_was(tmp_path: Path) -> None:
    path = os.fsdecode(b"runs/\xfcbung")
    write(tmp_path, Saved(5, path))
    (tmp_path / "journal.jsonl").read_text(encoding="utf-8")
    assert [entry["path"] for entry in read_journal(tmp_path)] == [path]


def test_events_can_be_read_while_the_run_goes_on(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(LOGGED)
    assert [entry["step"] for entry in read_journal(tmp_path)] == [5]
    journal.close()


def test_a_full_disk_is_an_error_with_a_hint(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    journal = Journal(tmp_path)
    journal.write(LOGGED)
    resource.setrlimit(resource.RLIMIT_FSIZE, (250, hard))
    try:
        with pytest.raises(DataError, match="no space left"):
            journal.write(LOGGED)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        journal.close()
    write(tmp_path, LOGGED)
    assert [entry["step"] for entry in read_journal(tmp_path)] == [5, 5]
