"""Facts are read as they were written, also where the script was killed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainferry.errors import RehearsalError
from trainferry.rehearse.facts import DATA, End, Graph, Operator, Output, read_facts

START = {
    "kind": "start",
    "tensorflow": "1.15.5",
    "python": "3.7.16",
    "argv": ["train.py"],
    "rank": 1,
    "ranks": 2,
    "folder": "/project",
    "process": 7,
}
RUN = {
    "kind": "run",
    "id": 1,
    "session": 1,
    "graph": "graphs/1.json",
    "fetches": ["train"],
    "feeds": ["x:0"],
    "train": True,
    "place": "train.py:3",
    "operators": 2,
    "loop": 1,
    "losses": [],
}
STEP = {"kind": "step", "number": 1, "run": 1, "seconds": 0.5, "loss": 2.0, "tensor": "loss:0"}


def write(folder: Path, *rows: dict[str, Any], name: str = "facts.jsonl", end: str = "") -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows) + end)


def test_a_folder_without_facts_is_a_script_that_never_came_to_tensorflow(tmp_path: Path) -> None:
    facts = read_facts(tmp_path)
    assert facts.start is None
    assert facts.end is None
    assert facts.rank == 0


def test_facts_are_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        START,
        {"kind": "session", "id": 1, "place": "train.py:2", "config": {}, "patched": True},
        RUN,
        STEP,
        {"kind": "inputs", "step": 1, "run": 1, "shapes": {"x:0": [2, 3]}},
        {
            "kind": "pinned",
            "graph": "graphs/1.json",
            "open": {"a": [[None], None]},
            "problem": None,
        },
        {"kind": "weights", "step": 1, "crc": {"w": 5}},
        {"kind": "batch", "step": 1, "crc": 6},
        {"kind": "grown", "step": 1, "run": 1, "operators": 3},
        {"kind": "init", "place": "train.py:1"},
        {"kind": "session_closed", "id": 1, "place": ""},
        {"kind": "end", "steps": 1, "reason": "limit", "error": None, "cut": True},
    )
    facts = read_facts(tmp_path)
    assert facts.rank == 1
    assert facts.sessions[0].closed
    assert facts.runs[0].place == "train.py:3"
    assert facts.steps[0].loss == 2.0
    assert facts.inputs[0].shapes == {"x:0": (2, 3)}
    assert facts.pinned == {"graphs/1.json": {"a": ((None,), None)}}
    assert (facts.weights, facts.batches) == ({1: {"w": 5}}, {1: 6})
    assert (facts.inits, facts.shutdowns) == (("train.py:1",), ())
    assert facts.grown[0].operators == 3
    assert facts.end == End(1, "limit", None, True)


def test_notes_of_the_stand_ins_are_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"name": "hooks-lost", "message": "lost", "place": "train.py:4", "rank": 0},
        name="notes.jsonl",
    )
    assert read_facts(tmp_path).notes[0].name == "hooks-lost"


def test_a_line_that_was_cut_short_by_a_kill_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, START, RUN, STEP, end='{"kind": "st')
    assert len(read_facts(tmp_path).steps) == 1


def test_a_broken_line_in_the_middle_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, START, end='{"kind"\n' + json.dumps(STEP) + "\n")
    with pytest.raises(RehearsalError, match="line 2"):
        read_facts(tmp_path)


def test_of_several_processes_the_one_with_most_steps_is_read(tmp_path: Path) -> None:
    write(tmp_path, START)
    write(tmp_path, {**START, "process": 8}, RUN, STEP, name="facts-2.jsonl")
    write(tmp_path, {**START, "process": 9}, RUN, STEP, name="facts-10.jsonl")
    start = read_facts(tmp_path).start
    assert start is not None
    assert start.process == 8


def test_a_graph_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, START, RUN, {**RUN, "id": 2, "graph": None})
    facts = read_facts(tmp_path)
    row = ["a", "Add", "train.py:1", "", ["x", "^b"], [["float32", [None, 2]]], {}, "", ""]
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs/1.json").write_text(
        json.dumps({"version": 3, "producer": "tensorflow 1.15.5", "operators": [row]})
    )
    assert facts.graphs["graphs/1.json"].operators[0].outputs == (Output("float32", (None, 2)),)
    assert facts.graphs[facts.runs[1].graph].operators == ()  # was not written
    assert len(facts.graphs) == 2
    with pytest.raises(KeyError):
        facts.graphs["graphs/2.json"]


def test_a_graph_is_followed_by_name() -> None:
    x = Operator("x", "Split", outputs=(Output("float32", ()), Output("int32", ())))
    wait = Operator("wait", "NoOp")
    add = Operator("add", "Add", inputs=("x:1", "x", "^wait"))
    data = Operator("d", "BatchDatasetV2", inputs=("x",), function=DATA)
    inner = Operator("add", "Mul", inputs=("c:output:0",), function="f")
    const = Operator("c", "Const", outputs=(Output("half", ()),), function="f")
    graph = Graph((x, wait, add, data, inner, const))
    assert graph.by_name["add"] is add
    assert graph.named("add", "f") is inner
    assert graph.functions == {"f"}
    assert graph.inputs_of(add) == ["x", "x"]
    assert graph.input(add, -1) is x
    assert graph.input(add, 2) is None
    assert graph.input_dtypes(add) == ("int32", "float32")
    assert graph.input_dtypes(inner) == ("half",)
    assert graph.readers(x) == [add, data]
    assert graph.readers(wait) == ()
