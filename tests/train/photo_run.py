"""A run folder of a small network that names photographs, never trained, and pictures for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

from trainferry.train.build import build_network, build_task
from trainferry.train.checkpoint import Checkpoint, save_checkpoint
from trainferry.train.data.example import build_example
from trainferry.train.data.pictures import Picture, encode_jpeg, encode_png
from trainferry.train.data.tfrecord import write_records
from trainferry.train.photos import with_classes
from trainferry.train.recipe.read import read_recipe, recipe_to_toml
from trainferry.train.recipe.sections import Recipe

CLASSES = ("cat", "dog, hound", "Fisch", "鸟")
SCORES = {"top1": 0.5, "loss": 2.0}
_SIZES = {
    "resnet50": ("network.size=18", "network.width=4"),
    "resnet50_v2": ("network.width=4",),
    "resnet50_zoo": ("network.width=4",),
    "densenet121": ("network.growth=4",),
    "hrnet_w18": ("network.width=4", "network.head=8"),
}


def tiny_photo_recipe(name: str, *sets: str, size: int = 64) -> Recipe:
    """A recipe of the same network, thin, with its statistics taken from one batch."""
    picture = (
        f"picture.height={size}",
        f"picture.width={size}",
        f"picture.evaluation_size={size + 8}",
    )
    recipe = read_recipe(name, [*_SIZES[name], *picture, "network.norm_decay=0.0", *sets])
    return with_classes(recipe, CLASSES)


def settled_network(recipe: Recipe) -> nn.Module:
    """A network whose weights and statistics are all different, and fit each other."""
    network = build_network(recipe, torch.device("cpu"))
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if weight.dim() == 1:
                start = 0.0 if name.endswith("bias") else 0.5
                weight.copy_(torch.rand(weight.shape, generator=generator) + start)
        pictures = torch.from_numpy(np.stack([photo(number, 64, 64) for number in range(8)]))
        network.train()(build_task(recipe).inputs(pictures))
    return network.eval()


def make_photo_run(folder: Path, *sets: str, name: str = "resnet50", step: int = 7) -> Path:
    """Write the recipe and one checkpoint."""
    recipe = tiny_photo_recipe(name, *sets)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recipe.toml").write_text(recipe_to_toml(recipe), encoding="utf-8")
    facts = {"scores": SCORES, "best": {"score": 0.5, "step": step}}
    weights = dict(settled_network(recipe).state_dict())
    save_checkpoint(folder, Checkpoint(step, weights, facts=facts))
    return folder


def photo(number: int, height: int = 90, width: int = 120) -> Picture:
    """A picture with a bright corner on dots; each number has colours of its own."""
    dice = np.random.default_rng(number)
    picture = dice.integers(0, 128, (height, width, 3), np.uint8)
    picture[: height // 2, : width // 2] = dice.integers(0, 256, 3, np.uint8)
    return picture


def write_photos(folder: Path, count: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"photo{number}.png").write_bytes(encode_png(photo(number)))
    return folder


def write_photo_records(folder: Path, count: int) -> Path:
    """Write validation records as the originals have them; the second picture is damaged."""
    records = []
    for number in range(count):
        label = 1 + number % len(CLASSES)
        encoded = b"no picture" if number == 1 else encode_jpeg(photo(number), 95)
        records.append(
            build_example(
                {
                    "image/encoded": encoded,
                    "image/class/label": label,
                    "image/class/text": CLASSES[label - 1],
                }
            )
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_records(folder / "validation-00000-of-00001", records)
    return folder
