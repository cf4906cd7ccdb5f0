"""A run folder that was never trained, but looks and reads as if it had been."""

from __future__ import annotations

from pathlib import Path

import torch

from trainferry.train.build import build_network
from trainferry.train.checkpoint import Checkpoint, save_checkpoint
from trainferry.train.recipe.read import read_recipe, recipe_to_toml

TINY_NETWORK = ("network.channels=[4,4,8,8,8,8,8]", "network.hidden=8")
SCORES = {"sequence_accuracy": 0.5, "loss": 2.0}


def make_run(folder: Path, *sets: str, recipe_name: str = "crnn_small", step: int = 7) -> Path:
    """Write the recipe and one checkpoint with random weights and statistics."""
    recipe = read_recipe(recipe_name, [*TINY_NETWORK, *sets])
    network = build_network(recipe, torch.device("cpu"))
    generator = torch.Generator().manual_seed(step)
    weights = {
        name: torch.rand(value.shape, generator=generator) + 0.5
        if "running" in name or "norm" in name
        else value * (1 + 0.1 * torch.randn(value.shape, generator=generator))
        for name, value in network.state_dict().items()
        if value.is_floating_point()
    }
    # What is constant in a trained network too; and larger scores, so that something is read.
    for name, value in network.state_dict().items():
        if "bias_hh" in name:
            weights[name] = value
        elif "bias_ih" in name or name.endswith((".conv1.bias", ".conv2.bias")):
            weights[name] = 0.1 * torch.randn(value.shape, generator=generator)
    weights["classifier.weight"] = weights["classifier.weight"] * 5
    counters = {k: v for k, v in network.state_dict().items() if not v.is_floating_point()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recipe.toml").write_text(recipe_to_toml(recipe), encoding="utf-8")
    facts = {"scores": SCORES, "best": {"score": 0.5, "step": step}}
    save_checkpoint(folder, Checkpoint(step, {**weights, **counters}, facts=facts))
    return folder
