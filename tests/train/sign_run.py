"""A small network that reads signs, never trained, in a run folder, and pictures for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from tests.train.sign_data import LONGEST, SIDE, draw_sign, small_charset
from trainferry.train import signs
from trainferry.train.build import OpenRun, open_run
from trainferry.train.checkpoint import Checkpoint, save_checkpoint
from trainferry.train.data.pictures import encode_png
from trainferry.train.networks.attention_ocr import AttentionOCR
from trainferry.train.recipe.networks import AttentionOCRRecipe
from trainferry.train.recipe.read import recipe_to_toml
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import SignAugment, SignPicture, SpellRecipe

SCORES = {"sequence_accuracy": 0.5, "loss": 40.0}
VIEWS = 2
TEXTS = ("abc", "d\u2019e 1", "h", "20")


def tiny_sign_recipe(
    network: AttentionOCRRecipe | None = None, picture: SignPicture | None = None
) -> Recipe:
    charset = signs.charset_entries(small_charset())
    return Recipe(
        name="attention_ocr",
        network=network or AttentionOCRRecipe(endpoint="MaxPool_5a_3x3", hidden=16),
        task=SpellRecipe(charset_from="recipe", charset=charset, max_length=LONGEST),
        picture=picture or SignPicture(views=VIEWS, height=SIDE, width=SIDE),
        augment=SignAugment(),
    )


def settled_signs(recipe: Recipe) -> AttentionOCR:
    """A network whose weights and statistics are all different, and that reads something."""
    torch.manual_seed(4)
    network = signs.build_network(recipe)
    assert isinstance(network, AttentionOCR)
    with torch.no_grad():
        for name, value in network.state_dict().items():
            if name.endswith("bias"):
                value.copy_(0.3 * torch.randn(value.shape))
            elif name.startswith("decoder"):
                value.mul_(3)
        network.tower.moved = 1.0  # all statistics are of these pictures
        picture = recipe.picture
        assert isinstance(picture, SignPicture)
        shown = [draw_sign(text, picture.views, picture.height, 1, len(text)) for text in TEXTS]
        task = signs.build_task(recipe, "exact")
        network.train()(task.inputs(torch.from_numpy(np.stack(shown))))
    return network.eval()


def open_signs_run(folder: Path, recipe: Recipe | None = None, step: int = 7) -> OpenRun:
    """Write the recipe and one checkpoint, and open the run."""
    recipe = recipe or tiny_sign_recipe()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recipe.toml").write_text(recipe_to_toml(recipe), encoding="utf-8")
    facts = {"scores": SCORES, "best": {"score": 0.5, "step": step}}
    weights = dict(settled_signs(recipe).state_dict())
    save_checkpoint(folder, Checkpoint(step, weights, facts=facts))
    return open_run(folder, device=torch.device("cpu"))


def write_signs(folder: Path, count: int = 4, views: int = VIEWS) -> Path:
    """Write views side by side."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        strip = draw_sign(TEXTS[number % len(TEXTS)], views, SIDE, views, number)
        (folder / f"sign{number}.png").write_bytes(encode_png(strip))
    return folder


def write_view(path: Path, height: int = 60, width: int = 90) -> Path:
    """Write one photograph, of any size."""
    dice = np.random.default_rng(height)
    path.write_bytes(encode_png(dice.integers(0, 256, (height, width, 3), np.uint8)))
    return path
