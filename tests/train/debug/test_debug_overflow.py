"""Overflow detection names the layer and the operator, and leaves the run as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.train.cases import CASES, CPU, TinyCase
from tests.train.debug.planted import Swollen, SwollenBack, plant
from tests.train.debug.watched import train_watched
from trainferry.errors import TrainingError
from trainferry.train.checkpoint import find_checkpoint, load_weights
from trainferry.train.loop import train
from trainferry.train.run import Run

WORDS, PHOTOS = CASES[:2]


def reports(run: Run) -> list[dict[str, object]]:
    found = sorted((run.folder / "overflows").glob("*.json"))
    assert all(path.with_suffix(".txt").is_file() for path in found)
    return [json.loads(path.read_bytes()) for path in found]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_layer_whose_output_overflows_is_named(case: TinyCase, tmp_path: Path) -> None:
    run = case.build(case.make_data(tmp_path / "data"), tmp_path / "run")
    name = plant(run.network, Swollen, float("inf"))
    with pytest.raises(TrainingError, match=f"the output of `{name}`"):
        train_watched(run, "overflow")


@pytest.mark.usefixtures("emulated_npu")
@pytest.mark.parametrize("device", ["cpu", "npu"])
@pytest.mark.parametrize("case", [WORDS, PHOTOS], ids=lambda case: case.name)
def test_operator_step_and_statistics_of_a_forward_overflow_are_reported(
    case: TinyCase, device: str, words: Path, photos: Path, tmp_path: Path
) -> None:
    data = words if case is WORDS else photos
    run = case.build(data, tmp_path / "run", device=torch.device(device))
    name = plant(run.network, Swollen, 1.0)
    switches_on_at(run, name, step=3)
    with pytest.raises(TrainingError, match=f"step 3: the output of `{name}` \\(Swollen\\)"):
        train_watched(run, "overflow")
    (report,) = reports(run)
    operator = report["operator"]
    assert isinstance(operator, dict)
    assert (report["step"], report["layer"], report["direction"]) == (3, name, "forward")
    assert (operator["name"], operator["layer"]) == ("aten.mul.Tensor", name)
    assert operator["inputs"][0]["non_finite_share"] == 0
    assert 0 < operator["inputs"][0]["maximum"] < 100
    assert operator["outputs"][0]["non_finite_share"] > 0.9
    assert run.step == 2, "no update was made with values that are not finite"
    assert all(bool(weight.isfinite().all()) for weight in run.network.parameters())


def switches_on_at(run: Run, name: str, step: int) -> None:
    """Let the planted layer do its harm from a step on."""
    layer = run.network.get_submodule(name)

    def hook(module: nn.Module, _inputs: object) -> None:
        assert isinstance(module, Swollen)
        module.factor = 1e60 if run.step + 1 >= step else 1.0

    layer.register_forward_pre_hook(hook)


@pytest.mark.usefixtures("emulated_npu")
@pytest.mark.parametrize("device", ["cpu", "npu"])
@pytest.mark.parametrize("case", [WORDS, PHOTOS], ids=lambda case: case.name)
def test_the_layer_whose_gradient_overflows_is_named(
    case: TinyCase, device: str, words: Path, photos: Path, tmp_path: Path
) -> None:
    data = words if case is WORDS else photos
    run = case.build(data, tmp_path / "run", device=torch.device(device))
    name = plant(run.network, SwollenBack)
    with pytest.raises(TrainingError, match="overflow at step 1: the gradient"):
        train_watched(run, "overflow")
    (report,) = reports(run)
    operator = report["operator"]
    assert isinstance(operator, dict)
    assert (operator["layer"], operator["direction"]) == (name, "backward")
    assert operator["node"] == "_SwellBackward"
    assert operator["name"] == "aten.mul.Tensor"


def test_a_number_format_that_is_not_used_yet_can_be_tried_out(words: Path, tmp_path: Path) -> None:
    run = WORDS.build(words, tmp_path / "run")
    name = plant(run.network, Swollen, 1e5)
    said = train_watched(run, "overflow=fp16")
    assert run.step == 20
    told = [text for text in said if f"the output of `{name}` (Swollen)" in text]
    assert len(told) == 2, "once when it happens, once with a count at the end"
    assert "beyond fp16's 6.55e+04" in told[0]
    assert f"the output of `{name}` (Swollen) (20)" in told[1]
    assert reports(run)[0]["only_scale"] is None


@pytest.mark.parametrize("sets", [(), ("optimizer.accumulation=2",)], ids=["whole", "parts"])
def test_looking_changes_nothing(sets: tuple[str, ...], words: Path, tmp_path: Path) -> None:
    plain = WORDS.build(words, tmp_path / "plain", "schedule.steps=4", *sets)
    watched = WORDS.build(words, tmp_path / "watched", "schedule.steps=4", *sets)
    for run in (plain, watched):
        plant(run.network, Swollen, 1e5)
    train(plain, lambda _: None)
    train_watched(watched, "overflow=fp16")
    one, other = (load_weights(find_checkpoint(run.folder, "last")) for run in (plain, watched))
    assert [name for name in one if not torch.equal(one[name], other[name])] == []


def test_an_overflow_that_the_loss_scale_made_is_told_apart(
    words: Path, tmp_path: Path, emulated_npu: torch.device
) -> None:
    sets = ("precision.name=fp16", "precision.loss_scale=dynamic", "precision.initial_scale=1e6")
    run = WORDS.build(words, tmp_path / "run", *sets, "schedule.steps=3", device=emulated_npu)
    said = train_watched(run, "overflow")
    assert run.step == 3
    assert run.scale.overflows > 0
    (report, *_) = reports(run)
    assert report["only_scale"] is True
    assert report["loss_scale"] == 1e6
    assert any("the scale finds its place" in text for text in said)


def test_a_real_overflow_is_none_of_the_loss_scale(
    words: Path, tmp_path: Path, emulated_npu: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainferry.train.watch.MOST_OVERFLOWS_IN_A_ROW", 3)
    sets = ("precision.name=fp16", "precision.loss_scale=dynamic", "precision.initial_scale=8")
    run = WORDS.build(words, tmp_path / "run", *sets, device=emulated_npu)
    name = plant(run.network, Swollen, 1e30)
    with pytest.raises(TrainingError, match="3 batches in a row overflowed"):
        train_watched(run, "overflow")
    (report,) = reports(run)
    assert (report["layer"], report["only_scale"]) == (name, False)


def test_weights_that_are_not_finite_are_seen_in_what_the_operator_was_given(
    words: Path, tmp_path: Path
) -> None:
    run = WORDS.build(words, tmp_path / "run")
    with torch.no_grad():
        run.network.get_parameter("classifier.weight")[0, 0] = torch.nan
    with pytest.raises(TrainingError, match="the output of `classifier`") as raised:
        train_watched(run, "overflow")
    assert "was given values that are not finite" in raised.value.hint


def test_the_hooks_are_gone_when_training_ends(words: Path, tmp_path: Path) -> None:
    run = WORDS.build(words, tmp_path / "run")
    train_watched(run, "overflow")
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in run.network.modules())
    assert not run.optimizer._optimizer_step_pre_hooks
    assert not (run.folder / "overflows").exists()
    assert run.device == CPU
