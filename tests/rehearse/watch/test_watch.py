"""The watch tells what the sessions of a script did, whatever runs its training loop."""

from __future__ import annotations

import functools
import json
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.rehearse.stand_in.tensorflows import ENTRY, STAND_IN, environment, python_for
from trainferry.rehearse.facts import Graph, Operator, RunFacts, read_facts

HERE = Path(__file__).parent / "inside"
STEPS = 4

pytestmark = pytest.mark.slow
both = pytest.mark.parametrize("version", ["1.15", "2.15"])


class Watched(NamedTuple):
    """A script that ran under watch."""

    facts: RunFacts
    graph: Graph
    output: str
    code: int


@functools.cache
def watched(script: str, version: str) -> Watched:
    """Run a script of `inside/` once, with at most four train steps."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = {"folder": str(folder), "steps": STEPS, "values": None, "seed": None}
        (folder / "watch.json").write_text(json.dumps(settings))
        done = subprocess.run(
            [python_for(version), str(HERE / script), str(folder / "model")],
            env={
                **environment(version, TRAINFERRY_WATCH=str(folder / "watch.json")),
                "PYTHONPATH": f"{ENTRY}:{STAND_IN}",
            },
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert (folder / "facts.jsonl").exists(), done.stderr[-4000:]
        facts = read_facts(folder)
        train = [run for run in facts.runs if run.train]
        graph = facts.graphs[train[0].graph] if train else Graph()
        return Watched(facts, graph, done.stdout + done.stderr, done.returncode)


def at(script: str, text: str) -> str:
    """The place of the first line of a script that holds `text`."""
    lines = (HERE / script).read_text("utf-8").splitlines()
    number = next(number for number, line in enumerate(lines, start=1) if text in line)
    return f"{script}:{number}"


def train_places(facts: RunFacts) -> set[str]:
    return {run.place for run in facts.runs if run.train}


def kinds(graph: Graph, kind: str) -> list[Operator]:
    return [one for one in graph.operators if one.kind == kind]


@both
def test_a_loop_of_the_script_is_left_after_the_last_step(version: str) -> None:
    facts, _, output, code = watched("plain_loop.py", version)
    assert code == 0, output
    assert facts.end is not None
    assert (facts.end.reason, facts.end.steps, facts.end.cut) == ("limit", STEPS, True)
    assert output.count("loss") == STEPS
    assert "after the loop" not in output
    assert "4 train steps are done" in output
    assert facts.sessions[0].closed  # by `with`, which the exception passed
    assert train_places(facts) == {at("plain_loop.py", "session.run([train")}


@both
def test_a_step_tells_its_loss_its_inputs_and_its_weights(version: str) -> None:
    facts, _, output, _ = watched("plain_loop.py", version)
    printed = [float(line.split()[1]) for line in output.splitlines() if line.startswith("loss")]
    assert [step.loss for step in facts.steps] == pytest.approx(printed, rel=1e-5)
    assert [dict(seen.shapes) for seen in facts.inputs] == [
        {"IteratorGetNext:0": (4, 8), "keep:0": ()}
    ]
    assert len(set(facts.batches.values())) == STEPS
    assert sorted(facts.weights) == [1, 2, 4]
    assert facts.weights[1] != facts.weights[2]


@both
def test_a_session_tells_its_options(version: str) -> None:
    session = watched("plain_loop.py", version).facts.sessions[0]
    assert session.config["npu_entries"] == [
        {"use_off_line": True, "precision_mode": "allow_mix_precision"}
    ]
    assert session.config["remapping"] == "OFF"
    assert session.config["allow_soft_placement"] is True
    assert session.place == at("plain_loop.py", "with tf.Session")
    assert not session.patched


@both
def test_operators_have_the_lines_of_the_user(version: str) -> None:
    graph = watched("plain_loop.py", version).graph
    assert graph.by_name["dense/MatMul"].place == at("plain_loop.py", "tf.layers.dense")
    assert graph.by_name["Adam"].place == at("plain_loop.py", "minimize")
    gradient = next(one for one in graph.operators if one.name.endswith("dense/MatMul_grad/MatMul"))
    assert gradient.attributes["gradient_of"] == "dense/MatMul"


@both
def test_the_pipeline_of_an_iterator_has_lines_too(version: str) -> None:
    graph = watched("plain_loop.py", version).graph
    (batch,) = kinds(graph, "BatchDatasetV2")
    assert batch.place == at("plain_loop.py", "batches.batch")
    drop = graph.input(batch, -1)
    assert drop is not None
    assert drop.attributes["value"] is False
    assert batch.function in graph.functions
    (estimated,) = kinds(watched("estimated.py", version).graph, "BatchDatasetV2")
    assert estimated.function == "@data"
    assert estimated.place == at("estimated.py", "rows.batch")


@both
def test_only_what_depends_on_values_stays_open_with_the_inputs_seen(version: str) -> None:
    facts, graph, _, _ = watched("plain_loop.py", version)
    (opened,) = facts.pinned.values()
    assert facts.problems == ()
    assert graph.by_name["IteratorGetNext"].outputs[0].shape == (None, 8)
    assert "IteratorGetNext" not in opened
    roots = {"boolean_mask/Where", "boolean_mask/Squeeze", "boolean_mask/GatherV2"}
    assert roots <= set(opened)
    # A loop, its arrays and its gradients are closed; these two kinds say nothing of the shapes.
    others = {graph.by_name[name].kind for name in set(opened) - roots}
    assert others <= {"BroadcastGradientArgs", "Range"}


@both
def test_numbers_that_only_shapes_decide_leave_nothing_open(version: str) -> None:
    facts, graph, _, _ = watched("cropped.py", version)
    (opened,) = facts.pinned.values()
    assert facts.problems == ()
    closed = {"Slice", "ConcatV2", "Pad", "Conv2DBackpropInput"}
    assert closed <= {one.kind for one in graph.operators}
    assert closed.isdisjoint(graph.by_name[name].kind for name in opened)
    assert "counted" in opened  # a sum of values, halved


@both
def test_a_script_that_ends_by_itself_does(version: str) -> None:
    facts, _, output, code = watched("own_end.py", version)
    assert code == 0, output
    assert facts.end is not None
    assert (facts.end.reason, facts.end.steps) == ("script", STEPS)
    assert not facts.sessions[0].closed
    assert [run.train for run in facts.runs] == [False, True, False]


@both
def test_a_changed_shape_and_a_grown_graph_are_told(version: str) -> None:
    facts = watched("own_end.py", version).facts
    assert [(seen.step, seen.shapes["x:0"]) for seen in facts.inputs] == [
        (1, (4, 2)),
        (3, (3, 2)),
        (4, (4, 2)),
    ]
    assert [(grown.step, grown.operators) for grown in facts.grown] == [(4, 1)]


@both
def test_an_estimator_stops_training_and_goes_on(version: str) -> None:
    facts, _, output, code = watched("estimated.py", version)
    assert code == 0, output
    assert "evaluated at 4" in output
    assert facts.end is not None
    assert (facts.end.reason, facts.end.steps, facts.end.cut) == ("limit", STEPS, False)
    assert all(session.closed for session in facts.sessions)
    assert train_places(facts) == {at("estimated.py", "estimator.train")}


@both
def test_a_step_without_summaries_shares_the_file_of_one_with_them(version: str) -> None:
    facts = watched("estimated.py", version).facts
    first, second = (run for run in facts.runs if run.train)
    assert first.graph == second.graph
    assert list(facts.pinned) == [first.graph]


@both
def test_a_monitored_session_is_told_to_stop(version: str) -> None:
    facts, _, output, _ = watched("monitored.py", version)
    assert "stopped after 4" in output
    assert facts.end is not None
    assert facts.end.reason == "limit"
    # The loss is not fetched by the script, and is that before the update.
    assert [step.loss for step in facts.steps] == pytest.approx([4, 2.56, 1.6384, 1.048576])


@both
def test_keras_fits_no_longer_than_asked_for(version: str) -> None:
    facts, _, output, code = watched("keras_fit.py", version)
    assert code == 0, output
    assert "epochs 1" in output
    assert "evaluated True" in output
    assert len(facts.steps) == STEPS
    assert facts.inputs[0].shapes["dense_input:0"] == (4, 8)
    assert None not in [step.loss for step in facts.steps]


@both
def test_slim_and_its_queues_are_watched(version: str) -> None:
    facts, graph, output, code = watched("slim_queues.py", version)
    assert code == 0, output
    assert "slim is done" in output
    assert facts.inputs[0].shapes == {"batch:0": (4, 8)}
    assert kinds(graph, "QueueDequeueManyV2")[0].place == at("slim_queues.py", "tf.train.batch")
    assert facts.end is not None
    assert not facts.end.cut


@both
def test_an_optimizer_written_by_hand_trains(version: str) -> None:
    facts, _, output, code = watched("by_hand.py", version)
    assert code == 0, output
    # Neither the clipping of weights nor a moving average is a train step.
    assert [run.fetches for run in facts.runs if run.train] == [("Assign:0",)]
    assert len(facts.steps) == STEPS


@both
def test_a_script_that_catches_the_end_can_still_end(version: str) -> None:
    facts, _, output, _ = watched("by_hand.py", version)
    assert "closed" in output
    assert facts.end is not None
    assert (facts.end.reason, facts.end.cut) == ("limit", True)
    assert facts.sessions[0].closed


@both
def test_each_step_of_a_loop_on_the_device_is_told(version: str) -> None:
    facts, graph, output, code = watched("on_the_device.py", version)
    assert code == 0, output
    (run,) = (run for run in facts.runs if run.train)
    assert run.loop == 3
    # The second loop is cut to one step, and the script does not notice.
    assert [step.loss for step in facts.steps] == pytest.approx([4, 2.56, 1.6384, 1.048576])
    assert facts.end is not None
    assert (facts.end.reason, facts.end.cut) == ("limit", False)
    assert run.losses == ("Sum:0",)  # not the scaled one
    assert any(one.stand_in for one in graph.operators)


@both
def test_start_and_end_of_the_device_are_told(version: str) -> None:
    facts = watched("on_the_device.py", version).facts
    assert facts.inits == (at("on_the_device.py", "first.run(start)"),)
    assert facts.shutdowns == (at("on_the_device.py", "session.run(end)"),)
    assert all(session.patched for session in facts.sessions)
    assert all(session.config["npu_entries"] for session in facts.sessions)


@both
def test_other_parts_of_the_probe_read_gradients_and_weights(version: str) -> None:
    facts, _, output, code = watched("joined_in.py", version)
    assert code == 0, output
    line = next(line for line in output.splitlines() if line.startswith("[["))
    assert json.loads(line) == [
        ["before", 1, [1.0, 1.0]],
        ["after", 1, [0.5, 0.5], {"gradients/weights": [2.0, 2.0]}, 2.0],
        ["before", 2, [0.5, 0.5]],
        ["after", 2, [0.25, 0.25], {"gradients/weights": [1.0, 1.0]}, 0.5],
    ]
    assert len(facts.runs) == 2  # what they read is not the script's


@both
def test_of_several_processes_the_one_that_trained_is_read(version: str) -> None:
    facts, graph, output, code = watched("with_children.py", version)
    assert code == 1
    assert "the parent fails" in output
    assert len(facts.steps) == 2
    assert kinds(graph, "ApplyAdagrad")


@both
def test_an_update_inside_a_branch_is_a_train_step(version: str) -> None:
    facts, graph, output, code = watched("in_control_flow.py", version)
    assert code == 0, output
    assert [step.loss for step in facts.steps] == [2.0]
    (update,) = kinds(graph, "ResourceApplyGradientDescent")
    assert update.function in graph.functions
    assert update.place == at("in_control_flow.py", "apply_gradients")
