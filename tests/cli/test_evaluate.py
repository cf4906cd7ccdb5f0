"""The command `trainferry evaluate` for runs that name photographs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from tests.train.photo_data import class_name, make_photo_data, photo_record
from tests.train.run_folder import make_run
from trainferry.cli.main import main
from trainferry.train.build import build_network, complete_recipe, evaluation_source, open_run
from trainferry.train.checkpoint import Checkpoint, save_checkpoint
from trainferry.train.data.tfrecord import write_records
from trainferry.train.recipe.read import read_recipe, recipe_to_toml

CLASSES = 7
SAMPLES = 22
TINY = (
    *("network.size=18", "network.width=4", "loop.batch=8", "data.workers=0"),
    *("picture.height=32", "picture.width=32", "picture.evaluation_size=32"),
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photo_data(tmp_path_factory.mktemp("photos"), CLASSES, train=14, val=SAMPLES)


@pytest.fixture(scope="module")
def run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with two checkpoints that was never trained."""
    folder = tmp_path_factory.mktemp("run")
    recipe = complete_recipe(read_recipe("resnet50", TINY), data)
    (folder / "recipe.toml").write_text(recipe_to_toml(recipe), encoding="utf-8")
    weights = build_network(recipe, torch.device("cpu")).state_dict()
    for step in (7, 21):
        facts = {"position": step, "samples": 14, "best": {"score": 0.5, "step": 7}}
        save_checkpoint(folder, Checkpoint(step, weights, facts=facts))
        weights = {name: value.flip(0) for name, value in weights.items()}
    return folder


def evaluate(run: Path, data: Path, *options: str) -> int:
    return main(["evaluate", str(run), "--data", str(data), "--device", "cpu", *options])


def rows_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["rows"]
    return rows


def test_all_checkpoints_stand_in_one_table(
    run: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(run, data, "--all") == 0
    head, *rows = capsys.readouterr().out.splitlines()
    names = ["step", "epoch", "top-1", "top-5", "macro", "F1", "loss", "samples", "saved"]
    assert head.split() == names
    assert [row.split()[:2] for row in rows] == [["7", "4.00"], ["21", "12.00"]]
    assert [row.split()[6] for row in rows] == [str(SAMPLES)] * 2


def test_all_checkpoints_of_a_run_with_one_are_a_table_alone(
    run: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "checkpoints").mkdir()
    shutil.copy(run / "recipe.toml", tmp_path)
    kept = Path("checkpoints", "step-00000007")
    shutil.copytree(run / kept, tmp_path / kept)
    assert evaluate(tmp_path, data, "--all") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_each_photograph_is_scored_once_whatever_the_batch(
    run: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = open_run(run, device=torch.device("cpu"))
    source = evaluation_source(opened.recipe, data, "val")
    right = 0
    for position in range(SAMPLES):
        alone = source.evaluation_batch(np.array([position]), 1)
        with torch.no_grad():
            scores = opened.network(opened.task.inputs(alone.images))
        right += int(scores.argmax() == alone.labels[0])
    for options in ((), ("--set", "loop.batch=5"), ("--set", "data.workers=2")):
        assert evaluate(run, data, "--json", *options) == 0
        (row,) = rows_of(capsys)
        assert (row["step"], row["samples"]) == (7, SAMPLES)
        assert row["top1"] == pytest.approx(right / SAMPLES)
        assert sum(each["right"] for each in row["classes"]) == right
        assert np.array(row["matrix"]).sum() == SAMPLES
        assert sum(pair["times"] for pair in row["confused"]) == SAMPLES - right
        assert sum(each["named"] for each in row["classes"]) == SAMPLES
        recalls = [each["recall"] for each in row["classes"] if each["samples"]]
        assert row["macro_recall"] == pytest.approx(sum(recalls) / CLASSES)


def test_few_classes_are_told_one_by_one(
    run: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(run, data) == 0
    shown = capsys.readouterr().out
    for number in range(CLASSES):
        assert class_name(number) in shown
    assert "most often taken for" in shown
    assert "was taken for" in shown


def test_many_classes_are_told_only_when_asked_for(
    run: Path, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainferry.cli.evaluate.FEW_CLASSES", 3)
    assert evaluate(run, data) == 0
    shown = capsys.readouterr().out
    assert "most often taken for" not in shown
    assert "every class counts alike" in shown
    assert evaluate(run, data, "--per-class") == 0
    assert "most often taken for" in capsys.readouterr().out


def test_the_confusion_matrix_is_drawn(
    run: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(run, data, "--json", "--confusion", str(tmp_path / "matrix.png")) == 0
    assert rows_of(capsys)
    with Image.open(tmp_path / "matrix.png") as picture:
        assert picture.format == "PNG"


def test_what_is_not_in_the_scores_is_told(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = [photo_record(number, CLASSES) for number in range(CLASSES)]
    torn = good[2][:60] + good[2][60:].replace(b"\xff", b"\x00")
    unknown = photo_record(CLASSES + 3, CLASSES)
    write_records(tmp_path / "val_1.tfrecords", [*good, torn, unknown])
    assert evaluate(run, tmp_path, "--json") == 0
    told = capsys.readouterr()
    (row,) = json.loads(told.out)["rows"]
    assert (row["samples"], row["unreadable"], row["left_out"]) == (CLASSES, 1, 1)
    assert "1 sample could not be read" in told.err
    assert "1 sample of no class that the network knows" in told.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--protocol", "exact"], "is for words"),
        (["--all", "--per-class"], "look at one checkpoint"),
        (["--all", "--confusion", "matrix.png"], "look at one checkpoint"),
    ],
)
def test_options_that_do_not_fit_photographs_are_refused(
    options: list[str], words: str, run: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(run, data, *options) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--per-class"], ["--confusion", "matrix.png"]])
def test_options_of_photographs_are_refused_for_words(
    options: list[str], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(make_run(tmp_path / "words"), data, *options) == 2
    assert "this run reads words" in capsys.readouterr().err
