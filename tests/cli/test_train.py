"""The commands `trainferry train` and `trainferry evaluate`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.train.word_data import TINY, make_word_data
from trainferry.cli.main import main
from trainferry.train.checkpoint import find_checkpoint, load_checkpoint
from trainferry.train.journal import read_journal

SETS = [part for override in TINY for part in ("--set", override)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_word_data(tmp_path_factory.mktemp("words"), train=24, val=8)


@pytest.fixture(scope="module")
def run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert main(train_command(data, folder)) == 0
    return folder


def train_command(data: Path, run: Path, *more: str) -> list[str]:
    command = ["train", "crnn_small", "--data", str(data), "--run", str(run)]
    return [*command, *SETS, "--device", "cpu", *more]


def test_the_result_is_on_stdout_and_the_story_on_stderr(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert main(train_command(data, folder)) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(f"{folder}: 20 steps, best score ")
    assert shown.out.count("\n") == 1
    assert shown.err.startswith("device: cpu")
    for words in (
        "kept 24 of 24 records",
        "images/s",
        "waiting for data",
        "left",
        "all steps done",
    ):
        assert words in shown.err


def test_a_batch_that_is_larger_than_the_data_is_told(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("--set", "loop.batch=25", "--set", "schedule.steps=1")
    assert main(train_command(data, tmp_path / "run", *more)) == 0
    assert "a batch of 25 is larger than the data" in capsys.readouterr().err


def test_json_is_all_there_is_on_stdout(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(train_command(data, tmp_path / "run", "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["step"], told["reason"]) == (20, "all steps done")
    assert told["best_step"] in (10, 20)


def test_a_run_keeps_recipe_journal_curves_and_checkpoints(run: Path) -> None:
    kept = {path.name for path in run.iterdir() if not path.name.startswith(".")}
    assert kept == {"recipe.toml", "journal.jsonl", "tensorboard", "checkpoints"}
    events = [entry["event"] for entry in read_journal(run)]
    assert events[0] == "started"
    assert events[-1] == "ended"
    assert events.count("evaluated") == 2


def test_curves_and_pictures_can_be_opened_with_tensorboard(run: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = EventAccumulator(str(run / "tensorboard"))
    board.Reload()
    assert [event.step for event in board.Scalars("train/loss")] == [5, 10, 15, 20]
    assert [event.step for event in board.Scalars("val/sequence_accuracy")] == [10, 20]
    assert [event.step for event in board.Images("val/read")] == [10, 20]


def test_the_same_command_again_changes_nothing(
    data: Path, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoints = {path: path.read_bytes() for path in (run / "checkpoints").rglob("*.*")}
    assert main(train_command(data, run)) == 0
    shown = capsys.readouterr()
    assert "going on from step 20" in shown.err
    assert "images/s" not in shown.err
    assert all(path.read_bytes() == content for path, content in checkpoints.items())


def test_a_run_that_is_interrupted_saves_and_says_how_to_go_on(data: Path, tmp_path: Path) -> None:
    # Started in the background, as by a CI, a process ignores SIGINT unless it asks for it.
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from trainferry.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program]
    sets = ("--set", "schedule.steps=100000", "--set", "data.workers=1")
    command += train_command(data, tmp_path / "run", *sets)
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        assert any("saved" in line for line in process.stderr)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: its readers hear it too
        assert any("Ctrl-C once more" in line for line in process.stderr)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "Traceback" not in err
    step = int(find_checkpoint(tmp_path / "run", "last").name.removeprefix("step-"))
    assert f"run: {step} steps" in out
    assert f"the same command goes on from step {step}" in err


def test_weights_of_another_run_are_taken_over(
    data: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = ("--set", "task.alphabet=abcdefgh0123", "--set", "learning_rate=1e-12")
    options = (*sets, "--init-from", str(run), "--exclude", "convolutions.conv7*")
    assert main(train_command(data, tmp_path / "second", *options)) == 0
    told = capsys.readouterr().err
    assert "took over" in told
    assert "not taken over: convolutions.conv7.weight: excluded" in told
    assert "classifier.weight: 12 of 12 characters were known there" in told
    first, second = (
        load_checkpoint(find_checkpoint(folder, "last")).weights
        for folder in (run, tmp_path / "second")
    )
    name = "convolutions.conv1.weight"
    torch.testing.assert_close(first[name], second[name], rtol=0, atol=1e-6)
    assert main(train_command(data, tmp_path / "second", *options)) == 0
    told = capsys.readouterr().err
    assert "--init-from counted when this run began" in told
    assert "took over" not in told


def test_a_run_that_got_nothing_right_is_told_what_to_try(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("--set", "learning_rate=1e-12", "--set", "schedule.steps=2")
    assert main(train_command(data, tmp_path / "run", *more)) == 0
    shown = capsys.readouterr()
    assert shown.out.endswith("2 steps, best score 0.00%\n")
    assert "not one validation sample was answered right" in shown.err


def test_a_pattern_that_excludes_nothing_is_refused(
    data: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--init-from", str(run), "--exclude", "clasifier*")
    assert main(train_command(data, tmp_path / "second", *options)) == 2
    told = capsys.readouterr().err
    assert "no weight is called like `clasifier*`" in told
    assert "names begin with: classifier, convolutions" in told


def test_evaluate_prints_a_table_of_all_checkpoints(
    data: Path, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(run), "--data", str(data), "--all", "--device", "cpu"]) == 0
    shown = capsys.readouterr()
    head, *rows = shown.out.splitlines()
    assert head.split()[:4] == ["step", "epoch", "sequence", "character"]
    steps = [int(row.split()[0]) for row in rows]
    assert steps == sorted(steps)
    assert steps[-1] == 20
    assert len(steps) >= 2
    assert "protocol alnum36" in shown.err


def test_evaluate_of_the_last_checkpoint_is_what_training_saw(
    data: Path, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--checkpoint", "last", "--protocol", "exact", "--json", "--device", "cpu"]
    assert main(["evaluate", str(run), "--data", str(data), *options]) == 0
    told = json.loads(capsys.readouterr().out)
    (row,) = told["rows"]
    seen = [entry for entry in read_journal(run) if entry["event"] == "evaluated"][-1]
    assert told["protocol"] == "exact"
    assert row["step"] == seen["step"] == 20
    assert row["epoch"] == pytest.approx(20 * 8 / 24)
    for name in ("sequence_accuracy", "character_accuracy", "samples"):
        assert row[name] == seen["scores"][name]
    assert row["loss"] == pytest.approx(seen["scores"]["loss"], rel=1e-5)
