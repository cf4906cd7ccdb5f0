"""Runs that start from a TensorFlow checkpoint: of the whole network, or of Inception-v3 alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.train.cases import CASES
from trainferry.errors import CheckpointError
from trainferry.train.run import Run
from trainferry.train.tf_checkpoint.load import to_tensorflow
from trainferry.train.tf_checkpoint.names import variable_names
from trainferry.train.tf_checkpoint.write import write_checkpoint
from trainferry.train.transfer import transfer_weights

TOWER = "AttentionOcr_v1/conv_tower_fn/INCE/"
BY_NAME = {case.name: case for case in CASES}


def build(name: str, folder: Path) -> Run:
    case = BY_NAME[name]
    return case.build(case.make_data(folder / "data"), folder / "run")


def other_weights(run: Run) -> dict[str, NDArray[Any]]:
    """Weights of the run's network that no run starts with, under TensorFlow's names."""
    numbers = np.random.default_rng(3)
    ours = {
        name: numbers.random(value.shape, dtype=np.float32)
        for name, value in run.network.state_dict().items()
    }
    known = variable_names(run.recipe.network)
    return to_tensorflow(ours, (*known.needed, *known.for_training))


@pytest.mark.parametrize("name", ["crnn", "resnet", "attention_ocr"])
def test_a_run_starts_from_the_whole_network(name: str, tmp_path: Path) -> None:
    run = build(name, tmp_path)
    theirs = other_weights(run)
    write_checkpoint(tmp_path / "model.ckpt-9", {**theirs, "global_step": np.array(9)})
    transfer = transfer_weights(run, tmp_path / "model.ckpt-9", [])
    assert transfer.left == ()
    known = variable_names(run.recipe.network)
    now = {key: value.numpy() for key, value in run.network.state_dict().items()}
    for key, value in to_tensorflow(now, (*known.needed, *known.for_training)).items():
        assert np.array_equal(value, theirs[key]), key
    assert run.step == 0


def test_attention_ocr_starts_from_inception_alone(tmp_path: Path) -> None:
    run = build("attention_ocr", tmp_path)
    theirs = other_weights(run)
    inception = {name.removeprefix(TOWER): value for name, value in theirs.items() if TOWER in name}
    later = {"InceptionV3/Logits/Conv2d_1c_1x1/weights": np.zeros((1, 1, 4, 3), np.float32)}
    write_checkpoint(tmp_path / "inception_v3.ckpt", {**inception, **later})

    before = {name: value.clone() for name, value in run.network.state_dict().items()}
    transfer = transfer_weights(run, tmp_path / "inception_v3.ckpt", [])
    left = dict(transfer.left)
    decoder = {name for name in before if not name.startswith("tower.")}
    assert {name for name, reason in left.items() if reason == "not in the file"} == decoder
    assert left.keys() - decoder == set(later)
    assert "up to MaxPool_5a_3x3" in left["InceptionV3/Logits/Conv2d_1c_1x1/weights"]
    assert {name for name in before if name not in decoder} == set(transfer.loaded)
    now = run.network.state_dict()
    assert all(now[name].equal(before[name]) for name in decoder)
    assert not any(now[name].equal(before[name]) for name in transfer.loaded)


def test_inception_is_nothing_for_another_network(tmp_path: Path) -> None:
    write_checkpoint(
        tmp_path / "inception_v3.ckpt",
        {"InceptionV3/Conv2d_1a_3x3/weights": np.zeros((3, 3, 3, 32), np.float32)},
    )
    with pytest.raises(CheckpointError, match="is not a checkpoint of"):
        transfer_weights(build("resnet", tmp_path), tmp_path / "inception_v3.ckpt", [])
