"""`trainferry train` on a run that was begun before recipes had one of today's keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.train.photo_data import make_photo_data
from trainferry.cli.main import main
from trainferry.train.checkpoint import find_checkpoint, load_checkpoint
from trainferry.train.run_folder import saved_recipe

SETS = (
    *("network.size=18", "network.width=4", "loop.batch=8", "data.workers=0"),
    *("picture.height=32", "picture.width=32", "picture.evaluation_size=32"),
    *("schedule.warmup_steps=0", "schedule.steps=4", "loop.save_every=2"),
    *("loop.evaluate_every=4", "loop.log_every=2", "loop.keep=3", "precision.name=fp32"),
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photo_data(tmp_path_factory.mktemp("photos"), train=16, val=4, size=240)


def command(data: Path, run: Path, *sets: str) -> list[str]:
    recipe = run.parent / "own.toml"
    recipe.write_text('base = "resnet50_photos"\n[picture]\ndecode = "scaled"\n', "utf-8")
    start = ["train", str(recipe), "--data", str(data), "--run", str(run), "--device", "cpu"]
    return [*start, *(part for one in (*SETS, *sets) for part in ("--set", one))]


def make_older(data: Path, run: Path) -> None:
    """Leave a run in the middle, as it was before a recipe could say how to decode."""
    assert main(command(data, run, "picture.decode=whole")) == 0
    for path in (run / "checkpoints").glob("step-*4"):
        path.rename(run / "ended")
    text = (run / "recipe.toml").read_text("utf-8")
    assert text.count('decode = "whole"\n') == 1
    (run / "recipe.toml").write_text(text.replace('decode = "whole"\n', ""), "utf-8")


def test_an_older_run_goes_on_with_what_it_was_trained_with(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    make_older(data, run)
    capsys.readouterr()
    assert main(command(data, run)) == 0
    told = capsys.readouterr().err
    assert "picture.decode stays 'whole': this run began before recipe `own` said 'scaled'" in told
    assert "going on from step 2" in told
    ended, unstopped = load_checkpoint(find_checkpoint(run, "last")), load_checkpoint(run / "ended")
    assert ended.step == unstopped.step == 4
    for name, weight in unstopped.weights.items():
        assert weight.equal(ended.weights[name]), name


def test_an_older_run_is_not_changed_by_hand(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    make_older(data, run)
    assert main(command(data, run, "picture.decode=scaled")) == 1
    assert "picture.decode was 'whole', is 'scaled'" in capsys.readouterr().err


def test_a_new_run_says_how_it_decodes_and_learns_something_else(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, sets in (("scaled", ()), ("whole", ("picture.decode=whole",))):
        assert main(command(data, tmp_path / name, *sets)) == 0
        assert saved_recipe(tmp_path / name).picture.decode == name  # type: ignore[union-attr]  # of photographs
    assert "stays" not in capsys.readouterr().err
    scaled, whole = (
        load_checkpoint(find_checkpoint(tmp_path / name, "last")) for name in ("scaled", "whole")
    )
    assert any(not weight.equal(whole.weights[name]) for name, weight in scaled.weights.items())
