"""A tiny twin of every network, with data of its kind, for tests that train."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from tests.train.photo_data import make_photo_data
from tests.train.sign_data import make_sign_data
from tests.train.word_data import TINY, make_word_data
from trainferry.train.build import build_run
from trainferry.train.recipe.read import read_recipe
from trainferry.train.recipe.sections import Recipe
from trainferry.train.run import Run

CPU = torch.device("cpu")

_TINY_PHOTOS = (
    "optimizer.learning_rate=0.05",
    "optimizer.rate_for_batch=0",
    "loop.batch=8",
    "loop.log_every=5",
    "loop.evaluate_every=10",
    "loop.save_every=5",
    "schedule.name=cosine",
    "schedule.steps=20",
    "schedule.warmup_steps=2",
    "schedule.boundaries=[]",
    "schedule.staircase_steps=0",
    "precision.loss_scale=none",
    "precision.name=fp32",
    "network.norm_decay=0.9",
    "data.workers=0",
)


@dataclass(frozen=True)
class TinyCase:
    """A recipe with sizes at which a step takes milliseconds, and where its data comes from."""

    name: str
    recipe_name: str
    sets: tuple[str, ...]
    make_data: Callable[[Path], Path]

    def recipe(self, *sets: str) -> Recipe:
        return read_recipe(self.recipe_name, [*self.sets, *sets])

    def build(self, data: Path, folder: Path, *sets: str, device: torch.device = CPU) -> Run:
        return build_run(self.recipe(*sets), data, folder, device, lambda _: None)


def _make_signs(folder: Path) -> Path:
    return make_sign_data(folder, views=2)


def _picture(size: int) -> tuple[str, ...]:
    return (f"picture.height={size}", f"picture.width={size}", f"picture.evaluation_size={size}")


CASES = (
    TinyCase("crnn", "crnn_small", TINY, make_word_data),
    TinyCase(
        "resnet",
        "resnet50",
        (*_TINY_PHOTOS, *_picture(32), "network.size=18", "network.width=4"),
        make_photo_data,
    ),
    TinyCase(
        "resnet_v2",
        "resnet50_v2",
        (*_TINY_PHOTOS, *_picture(32), "network.width=4"),
        make_photo_data,
    ),
    TinyCase(
        "resnet_zoo",
        "resnet50_zoo",
        (*_TINY_PHOTOS, *_picture(32), "network.width=4"),
        make_photo_data,
    ),
    TinyCase(
        "densenet",
        "densenet121",
        (*_TINY_PHOTOS, *_picture(64), "network.growth=4", "loop.batch=4"),
        make_photo_data,
    ),
    TinyCase(
        "hrnet",
        "hrnet_w18",
        (
            *_TINY_PHOTOS,
            *_picture(32),
            "network.width=4",
            "network.head=8",
            "network.modules=[1, 1, 1]",
            "network.blocks=1",
        ),
        make_photo_data,
    ),
    TinyCase(
        "attention_ocr",
        "attention_ocr",
        (
            *_TINY_PHOTOS,
            "optimizer.learning_rate=0.005",
            "picture.views=2",
            "picture.height=35",
            "picture.width=35",
            "task.max_length=6",
            "network.endpoint=MaxPool_5a_3x3",
            "network.hidden=8",
            "loop.batch=4",
            "augment.crop=0",
            "augment.colour=0",
        ),
        _make_signs,
    ),
)
