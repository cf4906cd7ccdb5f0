"""The command `trainferry train --debug one-batch`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.train.word_data import TINY, draw_word, make_word_data, word_record
from trainferry.cli.main import main
from trainferry.train.data.tfrecord import write_records

LEARNS = ("network.channels=[16,16,32,32,32,32,32]", "network.hidden=32")
SETS = [part for override in (*TINY, *LEARNS) for part in ("--set", override)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_word_data(tmp_path_factory.mktemp("words"), train=24, val=8)


def command(data: Path, run: Path, *more: str) -> list[str]:
    given = ["train", "crnn_small", "--data", str(data), "--run", str(run), *SETS]
    return [*given, "--device", "cpu", *more]


def test_a_batch_that_is_learnt_ends_with_0_and_leaves_nothing(data: Path, tmp_path: Path) -> None:
    given = command(data, tmp_path / "run", "--debug", "one-batch")
    done = subprocess.run(
        [sys.executable, "-m", "trainferry", *given],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("learnt: 8 of 8 samples are right after ")
    assert done.stderr.startswith("device: cpu")
    for words in ("kept 24 of 24 records", "learning one batch of 8 by heart", "images/s"):
        assert words in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_batch_that_is_not_learnt_ends_with_1_and_hints(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--debug", "one-batch=5", "--set", "optimizer.learning_rate=1e-12")
    assert main(command(data, tmp_path / "run", *options)) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("not learnt: 0 of 8 samples are right after 5 steps, the loss stayed")
    assert "\nhint: The weights hardly moved" in shown


def test_json_is_all_there_is_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = draw_word("ab")
    records = [word_record(text, picture) for text in ("ab", "cd", "e")]
    write_records(tmp_path / "tfrecords" / "train_1.tfrecords", records)
    options = ("--debug", "one-batch=5", "--json", "--set", "loop.batch=3")
    assert main(command(tmp_path, tmp_path / "run", *options)) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["learnt"], told["steps"], told["samples"]) == (False, 5, 3)
    assert len(told["batch"]["contradictions"]) == 2
    assert "Labels contradict each other" in told["hints"][0]
    assert "All pictures are the same" in told["hints"][1]


def test_a_run_that_is_there_is_neither_read_nor_changed(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    assert main(command(data, run)) == 0
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert main(command(data, run, "--debug", "one-batch=30")) in (0, 1)
    assert "going on" not in capsys.readouterr().err
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    assert main(command(data, run, "--set", "loop.keep=3")) == 0
    assert "going on from step 20" in capsys.readouterr().err


def test_weights_to_start_from_are_taken_over(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(data, tmp_path / "run")) == 0
    capsys.readouterr()
    options = ("--init-from", str(tmp_path / "run"), "--debug", "one-batch=1", "--json")
    assert main(command(data, tmp_path / "other", *options)) == 1
    shown = capsys.readouterr()
    assert "took over" in shown.err
    assert json.loads(shown.out)["first_loss"] < 50  # untrained it is near 80


@pytest.mark.parametrize("steps", ["0", "-3", "1.5", "many", "", "1e3", "99999999", "\u0663"])
def test_a_number_of_steps_that_is_none_is_refused(
    steps: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(data, tmp_path / "run", "--debug", f"one-batch={steps}")) == 2
    told = capsys.readouterr().err
    assert f"error: `{steps}` is no number of steps to learn one batch in" in told
    assert "one-batch=1000" in told


def test_it_is_not_for_several_ranks(
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {"WORLD_SIZE": "2", "RANK": "1", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}
    for name, value in {**given, "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}.items():
        monkeypatch.setenv(name, value)
    assert main(command(data, tmp_path / "run", "--debug", "one-batch")) == 2
    assert "and here are 2 ranks" in capsys.readouterr().err
