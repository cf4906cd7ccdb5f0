"""Makes a run folder out of an imported TensorFlow checkpoint."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from trainferry.devices.loss_scale import LossScale, LossScaleOptions
from trainferry.errors import CheckpointError, UsageError
from trainferry.train.build import build_network
from trainferry.train.checkpoint import Checkpoint, list_checkpoints, save_checkpoint
from trainferry.train.data.words.alphabet import Alphabet
from trainferry.train.optimizer import freeze_untrained
from trainferry.train.recipe.networks import AttentionOCRRecipe, CRNNRecipe, NetworkRecipe
from trainferry.train.recipe.read import recipe_to_toml
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import RecogniseRecipe, WordPicture
from trainferry.train.run_folder import open_folder
from trainferry.train.tf_checkpoint.load import ImportedWeights

Origin: TypeAlias = Literal["upstream", "zoo"]


def choose_origin(imported: ImportedWeights, asked: Origin | None) -> Origin:
    """Tell which project trained the weights of a CRNN, for they saw different pictures.

    Raises UsageError where the checkpoint does not say: wrong colours cost accuracy
    without any other sign.
    """
    if asked is not None:
        return asked
    if imported.cells == "fused" or imported.step_type == "int64":
        return "zoo"
    if imported.step_type == "int32":
        return "upstream"
    raise UsageError(
        "the checkpoint does not say whether the upstream project or the model zoo trained it",
        hint="pass --origin upstream (CRNN_Tensorflow: BGR pictures) or --origin zoo (RGB)",
    )


def adapt_recipe(recipe: Recipe, origin: Origin, alphabet: Alphabet | None) -> Recipe:
    """Put into the recipe how the weights' pictures were read, and the order of their classes."""
    picture, task = recipe.picture, recipe.task
    assert isinstance(picture, WordPicture)
    assert isinstance(task, RecogniseRecipe)
    picture = (
        dataclasses.replace(picture, order="bgr", filter="bilinear")
        if origin == "upstream"
        else dataclasses.replace(picture, order="rgb", filter="antialias")
    )
    if alphabet is not None:
        task = dataclasses.replace(task, alphabet=alphabet.characters, alphabet_from="recipe")
    return dataclasses.replace(recipe, picture=picture, task=task)


def check_complete(imported: ImportedWeights) -> None:
    """Raise CheckpointError unless every variable that inference needs was found."""
    if imported.missing:
        shown = ", ".join(f"`{name}`" for name in imported.missing[:3])
        raise CheckpointError(
            f"{len(imported.missing)} variables of the network are not in the checkpoint: {shown}",
            hint="save the checkpoint with all variables of the graph, not only the trained ones",
        )


def write_run(imported: ImportedWeights, recipe: Recipe, folder: Path, origin: str) -> Path:
    """Write the run and return its checkpoint; nothing is written unless everything fits."""
    check_complete(imported)
    _check_alphabet(imported, recipe)
    network = build_network(recipe, torch.device("cpu"))
    state = network.state_dict()
    weights = _tensors(imported.weights)
    averages = _tensors(imported.averages or {})
    momentum = _tensors(imported.momentum or {})
    for values in (weights, averages, momentum):
        _check_shapes(values, state, recipe)
    state.update(weights)

    if list_checkpoints(folder):
        raise CheckpointError(
            f"`{folder}` already holds a run with checkpoints",
            hint="give a new folder with --to: nothing there is overwritten",
        )
    open_folder(folder, recipe)
    checkpoint = Checkpoint(
        step=imported.step or 0,
        weights=state,
        training=_training_state(network, momentum, recipe)
        if recipe.optimizer.name == imported.optimizer
        else {},
        average=_floating({**state, **averages}) if averages else None,
        facts=_facts(imported, recipe, origin),
    )
    return save_checkpoint(folder, checkpoint)


def _training_state(
    network: nn.Module, momentum: Mapping[str, Tensor], recipe: Recipe
) -> dict[str, Tensor]:
    """The momentum of all that is trained: where the checkpoint has none, it starts at 0."""
    freeze_untrained(recipe.optimizer, network)
    return {
        f"{name}::momentum_buffer": momentum[name] if name in momentum else torch.zeros_like(weight)
        for name, weight in network.named_parameters()
        if weight.requires_grad
    }


def _facts(imported: ImportedWeights, recipe: Recipe, origin: str) -> dict[str, Any]:
    """What a resumed run asks for; the data starts where this many batches would have led."""
    precision = recipe.precision
    start = LossScale(LossScaleOptions(precision.loss_scale, precision.initial_scale)).value
    return {
        "position": imported.step or 0,
        "samples": None,
        "seconds": 0.0,
        "loss_scale": {
            "value": imported.loss_scale or start,
            "good_steps": imported.good_steps or 0,
            "bad_steps": imported.bad_steps or 0,
            "overflows": 0,
        },
        "best": {"score": None, "step": None},
        "evaluations_since_best": 0,
        "scores": None,
        "recipe": recipe_to_toml(recipe),
        "torch": torch.__version__,
        "imported_from": origin,
    }


def _check_alphabet(imported: ImportedWeights, recipe: Recipe) -> None:
    if not isinstance(recipe.task, RecogniseRecipe):
        return
    expected = len(recipe.task.alphabet) + 1
    if imported.classes != expected:
        raise CheckpointError(
            f"the checkpoint has {imported.classes} classes, the alphabet {expected} "
            "(its characters and the blank)",
            hint="pass the ord_map.json the weights were trained with: --alphabet ord_map.json",
        )


def _check_shapes(
    weights: Mapping[str, Tensor], state: Mapping[str, Tensor], recipe: Recipe
) -> None:
    for name, value in weights.items():
        wanted = tuple(state[name].shape) if name in state else "no such weight"
        if wanted != tuple(value.shape):
            raise CheckpointError(
                f"`{name}` is {tuple(value.shape)} in the checkpoint; the recipe asks for {wanted}",
                hint=_how_to_fit(recipe.network),
            )


def _how_to_fit(network: NetworkRecipe) -> str:
    """Say which sizes a recipe may have got wrong: those that no name of a variable shows."""
    if isinstance(network, CRNNRecipe):
        return "use the recipe `crnn`, or set network.channels and network.hidden with --set"
    if isinstance(network, AttentionOCRRecipe):
        other = str(not network.coordinates).lower()
        return (
            f"pass --set network.coordinates={other}, or set network.hidden to what the weights "
            "were trained with; the original has no coordinates"
        )
    return "the checkpoint is of a changed network, which cannot be imported"


def _tensors(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _floating(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What a running average holds: every weight and statistic, but no counters."""
    return {name: value for name, value in state.items() if value.is_floating_point()}
