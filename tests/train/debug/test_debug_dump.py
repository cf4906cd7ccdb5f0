"""Dumps hold what the layers saw, fit into their limit, and are never overwritten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.train.cases import CASES, TinyCase
from tests.train.debug.watched import train_watched
from trainferry.errors import CheckpointError, TrainingError, UsageError
from trainferry.train.checkpoint import find_checkpoint, load_weights
from trainferry.train.debug.attach import attach_observers
from trainferry.train.debug.dump_files import read_dump, read_index
from trainferry.train.debug.layers import tensors_in
from trainferry.train.debug.switches import parse_switches
from trainferry.train.loop import train

WORDS, PHOTOS = CASES[:2]


@pytest.mark.parametrize("case", [WORDS, PHOTOS], ids=lambda case: case.name)
def test_a_dump_reproduces_the_forward_pass_of_every_layer(
    case: TinyCase, words: Path, photos: Path, tmp_path: Path
) -> None:
    run = case.build(words if case is WORDS else photos, tmp_path / "run", "schedule.steps=3")
    said = train_watched(run, "dump=2")
    folder = run.folder / "dumps" / "step-00000002"
    assert any(str(folder) in text for text in said)
    run.network.train()
    checked = 0
    for name, module in run.network.named_modules():
        if not isinstance(module, nn.Conv2d | nn.BatchNorm2d | nn.Linear | nn.LSTM):
            continue
        tensors = read_dump(folder, f"{name}.safetensors")
        own = {
            key.removeprefix("weight."): value
            for key, value in tensors.items()
            if key.startswith("weight.")
        }
        module.load_state_dict(own)
        seen = tensors["call0.input0"]
        if seen.ndim == 4:  # files have no layout; in training maps lie so
            seen = seen.contiguous(memory_format=torch.channels_last)
        output = next(tensors_in(module(seen)))
        torch.testing.assert_close(output.detach(), tensors["call0.output0"])
        checked += 1
    assert checked > 10


def test_the_index_tells_layer_operator_shape_type_and_statistics(
    words: Path, tmp_path: Path
) -> None:
    run = WORDS.build(words, tmp_path / "run", "schedule.steps=2")
    train_watched(run, "dump=1:classifier")
    folder = run.folder / "dumps" / "step-00000001"
    index = read_index(folder)
    assert (index["step"], index["batch"], index["precision"]) == (1, 0, "fp32")
    entries = {entry["key"]: entry for entry in index["tensors"]}
    assert set(entries) == {
        "weight.weight",
        "call0.input0",
        "call0.output0",
        "call0.gradient0",
        "weight_gradient.weight",
    }
    output = entries["call0.output0"]
    values = read_dump(folder, output["file"])["call0.output0"]
    assert (output["kind"], output["dtype"]) == ("Linear", "float32")
    assert output["operator"] == "UnsafeViewBackward0"
    assert output["shape"] == list(values.shape)
    assert output["maximum"] == pytest.approx(float(values.max()))
    assert output["non_finite_share"] == 0


def test_layers_are_chosen_by_the_name_that_torch_has_for_their_kind(
    words: Path, tmp_path: Path
) -> None:
    run = WORDS.build(words, tmp_path / "run", "schedule.steps=2")
    train_watched(run, "dump=1:Conv2d")
    dumped = {path.stem for path in (run.folder / "dumps" / "step-00000001").glob("*.safetensors")}
    layers = run.network.named_modules()
    assert dumped == {name for name, layer in layers if isinstance(layer, nn.Conv2d)}


def test_gradients_in_a_dump_are_those_of_the_weights(words: Path, tmp_path: Path) -> None:
    run = WORDS.build(words, tmp_path / "run", "schedule.steps=2")
    train_watched(run, "dump=1:classifier")
    folder = run.folder / "dumps" / "step-00000001"
    tensors = read_dump(folder, "classifier.safetensors")
    clipped = tensors["call0.gradient0"].flatten(0, 1).T @ tensors["call0.input0"].flatten(0, 1)
    made = tensors["weight_gradient.weight"]
    # The norm of all gradients may have been clipped: the direction stays.
    assert torch.cosine_similarity(clipped.flatten(), made.flatten(), dim=0) > 0.9999


def test_dumping_changes_nothing(words: Path, tmp_path: Path) -> None:
    plain, dumped = (WORDS.build(words, tmp_path / name, "schedule.steps=6") for name in "ab")
    train(plain, lambda _: None)
    train_watched(dumped, "dump=1,3-4")
    found = sorted(path.name for path in (dumped.folder / "dumps").iterdir())
    assert found == ["step-00000001", "step-00000003", "step-00000004"]
    one, other = (load_weights(find_checkpoint(run.folder, "last")) for run in (plain, dumped))
    assert [name for name in one if not torch.equal(one[name], other[name])] == []


def test_a_dump_beyond_its_limit_is_not_written_and_says_its_size(
    words: Path, tmp_path: Path
) -> None:
    run = WORDS.build(words, tmp_path / "run")
    with pytest.raises(TrainingError, match=r"takes .* MiB, all steps asked for .* MiB; 1.0 KiB"):
        train_watched(run, "dump=2-3:*:1KiB")
    assert run.step == 1
    assert not (run.folder / "dumps").exists()


def test_a_dump_is_never_overwritten(words: Path, tmp_path: Path) -> None:
    run = WORDS.build(words, tmp_path / "run", "schedule.steps=2")
    train_watched(run, "dump=1:classifier")
    index = (run.folder / "dumps" / "step-00000001" / "index.json").read_bytes()
    again = WORDS.build(words, tmp_path / "run", "schedule.steps=2")
    with pytest.raises(UsageError, match="is there already"):
        attach_observers(again, parse_switches(["dump=1"]), lambda _: None)
    assert (run.folder / "dumps" / "step-00000001" / "index.json").read_bytes() == index


@pytest.mark.parametrize(
    ("switch", "problem"),
    [("dump=21", "the run ends with 20"), ("dump=1:nothing*", "no layer is called like")],
)
def test_what_cannot_be_dumped_is_refused_before_training(
    switch: str, problem: str, words: Path, tmp_path: Path
) -> None:
    run = WORDS.build(words, tmp_path / "run")
    with pytest.raises(UsageError, match=problem):
        attach_observers(run, parse_switches([switch]), lambda _: None)


def test_a_damaged_index_is_told(tmp_path: Path) -> None:
    (tmp_path / "index.json").write_text(json.dumps({"format": 1, "tensors": [{"file": "../x"}]}))
    with pytest.raises(CheckpointError, match="damaged"):
        read_index(tmp_path)
