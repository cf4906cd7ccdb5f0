"""Two runs side by side: the very same, apart in one layer, apart from the start."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from tests.train.cases import CASES, CPU, TinyCase
from trainferry.cli.main import main
from trainferry.errors import CheckpointError, UsageError
from trainferry.train.checkpoint import (
    Checkpoint,
    find_checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from trainferry.train.debug.attach import attach_observers
from trainferry.train.debug.compare.compare import How, compare
from trainferry.train.debug.compare.curves import Curves
from trainferry.train.debug.compare.difference import Difference
from trainferry.train.debug.compare.picture import comparison_picture
from trainferry.train.debug.switches import parse_switches
from trainferry.train.journal import Journal
from trainferry.train.loop import train

HERE = How((CPU, CPU))


@dataclass(frozen=True)
class Runs:
    """A network's runs: one, the same again, and one with another seed; each with two dumps."""

    case: TinyCase
    data: Path
    one: Path
    again: Path
    other_seed: Path


def train_run(case: TinyCase, data: Path, folder: Path, *sets: str) -> Path:
    run = case.build(
        data, folder, "schedule.steps=4", "loop.log_every=1", "loop.save_every=2", *sets
    )
    journal = Journal(folder)
    observers = attach_observers(run, parse_switches(["dump=1,3"]), journal.write)
    train(run, journal.write, observers)
    observers.close()
    journal.close()
    return folder


@pytest.fixture(scope="module", params=CASES[:2], ids=lambda case: case.name)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    case: TinyCase = request.param
    folder = tmp_path_factory.mktemp(case.name)
    data = case.make_data(folder / "data")
    return Runs(
        case,
        data,
        train_run(case, data, folder / "one"),
        train_run(case, data, folder / "again"),
        train_run(case, data, folder / "seed", "loop.seed=1"),
    )


def copy_with_one_layer_changed(run: Path, to: Path, weight: str) -> Path:
    to.mkdir()
    (to / "recipe.toml").write_bytes((run / "recipe.toml").read_bytes())
    (to / "journal.jsonl").write_bytes((run / "journal.jsonl").read_bytes())
    last = load_checkpoint(find_checkpoint(run, "last"))
    changed = {**last.weights, weight: last.weights[weight] * 1.01}
    facts = {key: value for key, value in last.facts.items() if key not in ("files", "format")}
    save_checkpoint(to, Checkpoint(last.step, changed, last.training, None, facts))
    return to


def test_a_run_and_its_repetition_are_the_very_same(runs: Runs) -> None:
    found = compare(runs.one, runs.again, HERE)
    assert not found.parts
    assert found.made_differently == {}
    (layers,) = found.layers
    assert len(layers.differences) > 20
    assert all(each.largest_difference == 0 for each in layers.differences)
    assert found.curves is not None
    assert found.curves.steps == [1, 2, 3, 4]
    assert found.curves.first_different is None


def test_the_one_layer_that_differs_is_named(runs: Runs, tmp_path: Path) -> None:
    weights = load_checkpoint(find_checkpoint(runs.one, "last")).weights
    kernels = [name for name, value in weights.items() if value.ndim == 4]
    changed = kernels[4]
    other = copy_with_one_layer_changed(runs.one, tmp_path / "other", changed)
    found = compare(runs.one, other, HERE)
    assert found.parts
    (layers,) = found.layers
    first = layers.first_apart
    assert first is not None
    assert first.layer == changed.removesuffix(".weight")
    assert first.relative == pytest.approx(0.01, rel=0.05)
    place = layers.differences.index(first)
    assert all(each.largest_difference == 0 for each in layers.differences[:place])
    assert found.curves is not None
    assert found.curves.first_apart is None


def test_a_tolerance_can_be_stated(runs: Runs, tmp_path: Path) -> None:
    weights = load_checkpoint(find_checkpoint(runs.one, "last")).weights
    changed = next(name for name, value in weights.items() if value.ndim == 4)
    other = copy_with_one_layer_changed(runs.one, tmp_path / "other", changed)
    assert not compare(runs.one, other, How((CPU, CPU), tolerance=0.5)).parts


def test_runs_of_different_seeds_part_at_the_first_layer_and_step(runs: Runs) -> None:
    found = compare(runs.one, runs.other_seed, How((CPU, CPU), loss_tolerance=1e-6))
    assert found.made_differently == {"loop.seed": (0, 1)}
    (layers,) = found.layers
    first = layers.first_apart
    assert first is not None
    assert layers.differences[0].name == "input0", "both were given the same pictures"
    assert layers.differences[0].largest_difference == 0
    assert first is layers.differences[1]
    assert first.cosine is not None
    assert first.cosine < 0.99
    assert found.curves is not None
    assert found.curves.first_apart == 1


def test_real_pictures_and_all_common_checkpoints_can_be_compared(runs: Runs) -> None:
    how = How((CPU, CPU), data=runs.data, split="train", checkpoints=("common",))
    found = compare(runs.one, runs.again, how)
    names = [Path(each.one).name for each in found.layers]
    assert names == ["step-00000002", "step-00000004"]
    assert not found.parts


def test_one_run_on_two_devices_is_the_same_within_rounding(
    runs: Runs, emulated_npu: torch.device
) -> None:
    found = compare(runs.one, runs.one, How((CPU, emulated_npu)))
    assert not found.parts


def test_precisions_are_compared_with_their_own_tolerance(runs: Runs) -> None:
    coarse = compare(runs.one, runs.one, How((CPU, CPU), ("fp32", "bf16")))
    (layers,) = coarse.layers
    assert layers.tolerance == 5e-2
    assert any(each.other.dtype == "bfloat16" for each in layers.differences)
    assert any(each.relative > 1e-4 for each in layers.differences)
    strict = compare(runs.one, runs.one, How((CPU, CPU), ("fp32", "bf16"), tolerance=1e-6))
    assert strict.parts


def test_dumps_of_the_same_step_are_the_same_and_of_other_seeds_are_not(runs: Runs) -> None:
    folders = [run / "dumps" / "step-00000003" for run in (runs.one, runs.again, runs.other_seed)]
    same = compare(folders[0], folders[1], HERE)
    assert not same.parts
    names = {each.name.split(".")[-1] for each in same.layers[0].differences}
    assert {"input0", "output0", "gradient0"} <= names
    apart = compare(folders[0], folders[2], HERE)
    assert apart.parts
    assert apart.made_differently["loop.seed"] == (0, 1)
    assert "samples" in apart.made_differently


def test_what_cannot_be_compared_is_refused(runs: Runs, tmp_path: Path) -> None:
    dump = runs.one / "dumps" / "step-00000003"
    with pytest.raises(UsageError, match="is a dump, and the other is none"):
        compare(runs.one, dump, HERE)
    with pytest.raises(CheckpointError, match=r"no recipe\.toml"):
        compare(runs.one, tmp_path, HERE)
    other = CASES[1] if runs.case is CASES[0] else CASES[0]
    folder = tmp_path / "other"
    other.build(other.make_data(tmp_path / "data"), folder)
    with pytest.raises(UsageError, match="no layer is the same"):
        compare(runs.one, folder, HERE)


def test_layers_of_other_shapes_part_and_say_so(tmp_path: Path) -> None:
    case = CASES[0]
    data = case.make_data(tmp_path / "data")
    one = train_run(case, data, tmp_path / "one")
    wide = train_run(case, data, tmp_path / "wide", "network.hidden=12")
    (layers,) = compare(one, wide, HERE).layers
    parted = [each for each in layers.differences if each.reason]
    assert parted[0].layer == "recurrence"
    assert parted[0].reason == "shape [4, 25, 16] and [4, 25, 24]"


def test_a_value_that_is_finite_in_one_alone_is_infinitely_far() -> None:
    found = Difference("layer", "Linear", "output0")
    found.add(torch.tensor([1.0, math.nan, math.inf]), torch.tensor([1.0, math.nan, math.inf]))
    assert found.relative == 0
    found.add(torch.tensor([1.0, 2.0]), torch.tensor([1.0, math.nan]))
    assert found.relative == math.inf
    assert found.parts(1e9)
    assert json.loads(json.dumps(found.to_json(0.1)))["relative"] == "inf"


def test_losses_part_at_the_first_step_beyond_the_tolerance() -> None:
    curves = Curves({1: 2.0, 2: 1.0, 3: 0.5, 9: 0.1}, {1: 2.0, 2: 1.001, 3: 0.6, 4: 7.0}, 0.01)
    assert curves.steps == [1, 2, 3]
    assert (curves.first_different, curves.first_apart) == (2, 3)
    assert Curves({1: math.nan}, {1: 1.0}, 0.5).first_apart == 1


def test_the_picture_shows_both_curves(runs: Runs, tmp_path: Path) -> None:
    found = compare(runs.one, runs.other_seed, HERE)
    comparison_picture(found, ("one", "other"), tmp_path / "picture.png")
    values = np.asarray(Image.open(tmp_path / "picture.png").convert("RGB"))
    colours = {tuple(int(part) for part in row) for row in values.reshape(-1, 3)[::7]}
    assert {(0x25, 0x63, 0xEB), (0xD9, 0x77, 0x06), (0x15, 0x80, 0x3D)} <= colours


def test_the_command_tells_plainly_and_exits_with_1_when_they_part(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, again, seed = map(str, (runs.one, runs.again, runs.other_seed))
    assert main(["compare", one, again, "--device", "cpu"]) == 0
    shown = capsys.readouterr().out
    assert "made in the same way" in shown
    assert "the very same values" in shown
    assert "losses: the very same numbers at all 4 steps" in shown
    plot = tmp_path / "plot.png"
    assert main(["compare", one, seed, "--device", "cpu", "--plot", str(plot)]) == 1
    shown = capsys.readouterr().out
    assert "loop.seed" in shown
    assert "layers: part at " in shown
    assert plot.is_file()


def test_the_command_tells_everything_as_json(
    runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    one, seed = map(str, (runs.one, runs.other_seed))
    assert main(["compare", one, seed, "--device", "cpu", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["parts"] is True
    assert told["made_differently"] == {"loop.seed": [0, 1]}
    assert told["layers"][0]["first_apart"]["layer"] == told["layers"][0]["layers"][1]["layer"]
    assert told["losses"]["steps"] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--device", "cpu,cpu,cpu"], "is neither one nor two"),
        (["--precision", "fp32,fp8"], "`fp8` is no precision"),
        (["--tolerance", "-1"], "is not a number of 0 or more"),
        (["--checkpoint", "7"], "has no checkpoint `7`"),
    ],
)
def test_wrong_arguments_get_a_hint(
    arguments: list[str], problem: str, runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", str(runs.one), str(runs.again), *arguments]
    if "--device" not in arguments:
        command += ["--device", "cpu"]
    with contextlib.suppress(SystemExit):
        assert main(command) in (1, 2)
    told = capsys.readouterr().err
    assert problem in told
    assert "hint: " in told
