"""An imported checkpoint becomes a run that trains on as if TensorFlow had never been there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from trainferry.errors import CheckpointError, UsageError
from trainferry.train.build import build_network, build_run
from trainferry.train.checkpoint import Checkpoint, find_checkpoint, load_checkpoint
from trainferry.train.loop import resume, train
from trainferry.train.recipe.read import read_recipe
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import ClassifyRecipe
from trainferry.train.tf_checkpoint.classes import read_class_names, with_class_names
from trainferry.train.tf_checkpoint.load import LARS, MOMENTUM, import_network, to_tensorflow
from trainferry.train.tf_checkpoint.names import variable_names
from trainferry.train.tf_checkpoint.read import read_checkpoint
from trainferry.train.tf_checkpoint.to_run import write_run
from trainferry.train.tf_checkpoint.write import write_checkpoint

CPU = torch.device("cpu")
CHANGES = (
    "picture.height=64",
    "picture.width=64",
    "picture.evaluation_size=64",
    'task.classes_from="recipe"',
    'task.classes=["cat", "dog"]',
    "data.synthetic=8",
    "data.workers=0",
    "loop.batch=4",
    "loop.save_every=2",
    "schedule.steps=4",
    "precision.name=fp32",
    "precision.loss_scale=none",
)
RESNET = ("network.size=18", "network.width=4", "schedule.warmup_steps=1")
NETWORKS = {
    "resnet50": (*RESNET, "schedule.boundaries=[2, 3, 4, 5]"),
    "resnet50_lars": RESNET,
    "densenet121": ("network.growth=4", "schedule.staircase_steps=2"),
    "hrnet_w18": ("network.width=4", "network.head=8", "schedule.boundaries=[2, 3, 4]"),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_training_goes_on_as_if_never_stopped(tmp_path: Path, name: str) -> None:
    recipe = small_recipe(name)
    whole = trained(recipe, tmp_path / "whole")
    halfway = load_checkpoint(find_checkpoint(tmp_path / "whole", "2"))
    assert (halfway.step, whole.step) == (2, 4)

    write_checkpoint(tmp_path / "model.ckpt-2", as_tensorflow(halfway, recipe))
    imported = import_network(read_checkpoint(tmp_path / "model.ckpt-2"), recipe.network)
    write_run(imported, recipe, tmp_path / "imported", "model.ckpt-2")
    resumed = trained(recipe, tmp_path / "imported")

    assert resumed.step == 4
    for key in whole.weights.keys() | whole.training.keys():
        if not key.endswith("num_batches_tracked"):
            one, other = (
                {**whole.weights, **whole.training},
                {**resumed.weights, **resumed.training},
            )
            assert torch.equal(one[key], other[key]), key


def test_momentum_of_the_head_alone_leaves_the_rest_at_0(tmp_path: Path) -> None:
    """The original that fine-tuned had no other; a recipe that trains all needs all."""
    recipe = small_recipe("resnet50")
    tensors = start_tensors(recipe)
    tensors["resnet_model/dense/bias/Momentum"] = np.ones(3, np.float32)
    write_checkpoint(tmp_path / "m", tensors)
    imported = import_network(read_checkpoint(tmp_path / "m"), recipe.network)
    write_run(imported, recipe, tmp_path / "run", "m")
    training = load_checkpoint(find_checkpoint(tmp_path / "run", "last")).training
    assert training["classifier.bias::momentum_buffer"].tolist() == [1, 1, 1]
    assert len(training) == 65
    assert not training["stem.weight::momentum_buffer"].any()
    head = small_recipe("resnet50", "optimizer.trained=head")
    write_run(imported, head, tmp_path / "head", "m")
    training = load_checkpoint(find_checkpoint(tmp_path / "head", "last")).training
    assert sorted(training) == [
        "classifier.bias::momentum_buffer",
        "classifier.weight::momentum_buffer",
    ]


def test_the_momentum_of_another_optimizer_is_left_out(tmp_path: Path) -> None:
    recipe = small_recipe("resnet50")
    tensors = start_tensors(recipe)
    tensors["resnet_model/dense/bias/LARSOptimizer"] = np.ones(3, np.float32)
    write_checkpoint(tmp_path / "m", tensors)
    imported = import_network(read_checkpoint(tmp_path / "m"), recipe.network)
    write_run(imported, recipe, tmp_path / "run", "m")
    assert load_checkpoint(find_checkpoint(tmp_path / "run", "last")).training == {}


def test_a_loss_scale_that_is_not_in_the_checkpoint_starts_as_the_recipe_says(
    tmp_path: Path,
) -> None:
    changes = (
        "precision.name=fp16",
        "precision.loss_scale=dynamic",
        "precision.initial_scale=64.0",
    )
    recipe = small_recipe("resnet50", *changes)
    write_checkpoint(tmp_path / "m", start_tensors(recipe))
    imported = import_network(read_checkpoint(tmp_path / "m"), recipe.network)
    write_run(imported, recipe, tmp_path / "run", "m")
    facts = load_checkpoint(find_checkpoint(tmp_path / "run", "last")).facts
    assert facts["loss_scale"]["value"] == 64.0


@pytest.mark.parametrize(
    ("outputs", "background", "classes"),
    [(1001, True, 1000), (1000, False, 1000), (11, True, 10), (10, False, 10)],
)
def test_classes_without_names_are_numbered_from_1(
    outputs: int, background: bool, classes: int
) -> None:
    recipe = with_class_names(photo_recipe(background), outputs, None)
    assert isinstance(recipe.task, ClassifyRecipe)
    assert (recipe.task.classes[0], len(recipe.task.classes)) == ("class 1", classes)
    assert recipe.task.classes_from == "recipe"


@pytest.mark.parametrize(
    ("outputs", "background", "hint"),
    [(1001, False, "--set task.background=true"), (1000, True, "--set task.background=false")],
)
def test_imagenets_background_must_be_the_recipes(
    outputs: int, background: bool, hint: str
) -> None:
    with pytest.raises(CheckpointError, match=f"has {outputs} classes") as info:
        with_class_names(photo_recipe(background), outputs, None)
    assert hint in info.value.hint


@pytest.mark.parametrize(
    ("outputs", "background", "hint"),
    [
        (3, False, "--set task.background=true"),
        (2, True, "--set task.background=false"),
        (7, True, "--classes"),
    ],
)
def test_names_must_be_as_many_as_the_classes(outputs: int, background: bool, hint: str) -> None:
    with pytest.raises(CheckpointError, match="there are 2 names") as info:
        with_class_names(photo_recipe(background), outputs, ("cat", "dog"))
    assert hint in info.value.hint


def test_names_are_one_a_line_or_the_classes_json_of_the_data(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("tench\ngreat white shark \n\n", encoding="utf-8")
    assert read_class_names(tmp_path / "names.txt") == ("tench", "great white shark")
    (tmp_path / "classes.json").write_text('{"classes": [{"name": "cat", "folder": "n1"}]}')
    assert read_class_names(tmp_path / "classes.json") == ("cat",)
    assert read_class_names(tmp_path) == ("cat",)


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "line 1"), (b"cat\n\ndog\n", "line 2"), (b"\xff\xfe", "cannot")]
)
def test_a_file_that_does_not_name_classes_is_told(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "names.txt").write_bytes(content)
    with pytest.raises(UsageError, match=reason):
        read_class_names(tmp_path / "names.txt")


@pytest.mark.parametrize("name", ["names.txt", "classes.json"])
def test_a_file_of_names_that_is_not_there_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        read_class_names(tmp_path / name)


def small_recipe(name: str, *changes: str) -> Recipe:
    return read_recipe(name, [*NETWORKS[name], *CHANGES, *changes])


def photo_recipe(background: bool) -> Recipe:
    return read_recipe("resnet50", [f"task.background={str(background).lower()}"])


def trained(recipe: Recipe, folder: Path) -> Checkpoint:
    """Train to the end from wherever the folder is, and return the last checkpoint."""
    run = build_run(recipe, None, folder, CPU, lambda _: None)
    resume(run)
    train(run, lambda _: None)
    return load_checkpoint(find_checkpoint(folder, "last"))


def as_tensorflow(checkpoint: Checkpoint, recipe: Recipe) -> dict[str, NDArray[Any]]:
    """What TensorFlow would have saved at this point."""
    known = variable_names(recipe.network)
    weights = {name: value.numpy() for name, value in checkpoint.weights.items()}
    momentum = {
        key.removesuffix("::momentum_buffer"): value.numpy()
        for key, value in checkpoint.training.items()
    }
    ending = LARS if recipe.optimizer.name == "lars" else MOMENTUM
    return {
        **to_tensorflow(weights, (*known.needed, *known.for_training)),
        **to_tensorflow(momentum, known.needed, ending=ending),
        f"{known.scope}global_step": np.array(checkpoint.step, np.int64),
    }


def start_tensors(recipe: Recipe) -> dict[str, NDArray[Any]]:
    state = build_network(recipe, CPU).state_dict()
    tensors = to_tensorflow(
        {name: value.numpy() for name, value in state.items()},
        variable_names(recipe.network).needed,
    )
    return {**tensors, "global_step": np.array(2, np.int64)}
