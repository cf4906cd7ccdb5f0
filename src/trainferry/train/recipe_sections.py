"""The typed sections of a recipe: every value that decides a run, with its default."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from trainferry.errors import RecipeError


@dataclass(frozen=True)
class NetworkRecipe:
    """Which network, and its sizes.

    `identical_kernels` starts all LSTM kernels from the same values, as the fused cells of
    the zoo do; it is there to compare with them, not because it helps.
    """

    name: Literal["crnn"] = "crnn"
    channels: tuple[int, ...] = (64, 128, 256, 256, 512, 512, 512)
    hidden: int = 256
    layers: int = 2
    dropout: float = 0.5
    norm_decay: float = 0.999
    identical_kernels: bool = False


@dataclass(frozen=True)
class TaskRecipe:
    """What is learnt: the characters in the order of their classes, and how labels are folded.

    With `alphabet_from` "data", the ord_map.json of the data says the characters; the
    recipe saved with a run always holds them.
    """

    name: Literal["recognise"] = "recognise"
    alphabet_from: Literal["recipe", "data"] = "recipe"
    alphabet: str = "0123456789abcdefghijklmnopqrstuvwxyz"
    case: Literal["lower", "keep"] = "lower"
    max_length: int = 23
    merge_repeated: bool = True


@dataclass(frozen=True)
class PictureRecipe:
    """The picture a network sees.

    `scale` "unit" is [-1, 1]; "half" is the [-0.5, 0.5] with which the originals
    score benchmarks, kept to reproduce their published figures.
    """

    height: int = 32
    width: int = 100
    order: Literal["rgb", "bgr"] = "rgb"
    filter: Literal["antialias", "bilinear"] = "antialias"
    scale: Literal["unit", "half"] = "unit"


@dataclass(frozen=True)
class DataRecipe:
    """How samples are read; `workers` -1 means one less than the cores."""

    workers: int = -1
    minimum_kept: float = 0.5


@dataclass(frozen=True)
class AugmentRecipe:
    """How much training pictures vary, each from 0 (not at all) to 1."""

    geometry: float = 0.0
    colour: float = 0.0
    blur: float = 0.0
    noise: float = 0.0


@dataclass(frozen=True)
class OptimizerRecipe:
    """How gradients become updates. `clip_norm` 0 clips nothing."""

    name: Literal["momentum", "adam", "adamw"] = "momentum"
    learning_rate: float = 0.01
    momentum: float = 0.9
    nesterov: bool = False
    betas: tuple[float, ...] = (0.9, 0.999)
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    clip_norm: float = 0.0
    accumulation: int = 1


@dataclass(frozen=True)
class ScheduleRecipe:
    """The learning rate over the steps."""

    name: Literal["cosine", "polynomial", "piecewise", "constant"] = "cosine"
    steps: int = 240_000
    warmup_steps: int = 0
    end_learning_rate: float = 0.0
    power: float = 1.0
    boundaries: tuple[int, ...] = ()
    factors: tuple[float, ...] = ()


@dataclass(frozen=True)
class LoopRecipe:
    """Batch, seed, and what happens how often. `patience` and `average` 0 mean off."""

    batch: int = 64
    seed: int = 0
    log_every: int = 100
    evaluate_every: int = 5000
    save_every: int = 5000
    keep: int = 5
    patience: int = 0
    average: float = 0.0


@dataclass(frozen=True)
class PrecisionRecipe:
    """Arithmetic of the forward and backward pass; weights stay in fp32."""

    name: Literal["fp32", "bf16", "fp16"] = "fp32"
    loss_scale: Literal["none", "static", "dynamic"] = "none"
    initial_scale: float = 65536.0


@dataclass(frozen=True)
class Recipe:
    """A whole recipe."""

    name: str
    network: NetworkRecipe = field(default_factory=NetworkRecipe)
    task: TaskRecipe = field(default_factory=TaskRecipe)
    picture: PictureRecipe = field(default_factory=PictureRecipe)
    data: DataRecipe = field(default_factory=DataRecipe)
    augment: AugmentRecipe = field(default_factory=AugmentRecipe)
    optimizer: OptimizerRecipe = field(default_factory=OptimizerRecipe)
    schedule: ScheduleRecipe = field(default_factory=ScheduleRecipe)
    loop: LoopRecipe = field(default_factory=LoopRecipe)
    precision: PrecisionRecipe = field(default_factory=PrecisionRecipe)


def check_recipe(recipe: Recipe) -> None:
    """Catch values that parse but cannot be trained."""
    problems = {
        "loop.batch must be at least 1": recipe.loop.batch < 1,
        "schedule.steps must be at least 1": recipe.schedule.steps < 1,
        "optimizer.accumulation must divide loop.batch": recipe.optimizer.accumulation < 1
        or recipe.loop.batch % recipe.optimizer.accumulation != 0,
        "loop.log_every, evaluate_every and save_every must be at least 1": min(
            recipe.loop.log_every, recipe.loop.evaluate_every, recipe.loop.save_every
        )
        < 1,
        "loop.keep must be at least 1": recipe.loop.keep < 1,
        "task.alphabet has a character twice": len(set(recipe.task.alphabet))
        != len(recipe.task.alphabet),
        "task.alphabet is empty": not recipe.task.alphabet,
        "picture.height must be 32 for crnn": recipe.picture.height != 32,
        "picture.width must be a multiple of 4, at least 8": recipe.picture.width % 4 != 0
        or recipe.picture.width < 8,
        "network.channels must be seven numbers for crnn": len(recipe.network.channels) != 7,
        "schedule.factors needs one value more than schedule.boundaries": (
            recipe.schedule.name == "piecewise"
            and len(recipe.schedule.factors) != len(recipe.schedule.boundaries) + 1
        ),
        "precision.loss_scale is for fp16; bf16 and fp32 need none": (
            recipe.precision.loss_scale != "none" and recipe.precision.name != "fp16"
        ),
        "optimizer.learning_rate must be positive": not (
            0 < recipe.optimizer.learning_rate < math.inf
        ),
        "optimizer.betas must be two numbers of 0 or more, below 1": len(recipe.optimizer.betas)
        != 2
        or not all(0 <= beta < 1 for beta in recipe.optimizer.betas),
        "optimizer.nesterov needs an optimizer.momentum above 0": recipe.optimizer.nesterov
        and recipe.optimizer.momentum == 0,
        "network.channels must be at least 1": min(recipe.network.channels, default=1) < 1,
        **_out_of_range(recipe),
    }
    for problem, present in problems.items():
        if present:
            raise RecipeError(f"recipe `{recipe.name}`: {problem}", hint="change that value")


_RANGES: dict[str, tuple[float, float]] = {
    "network.hidden": (1, math.inf),
    "network.layers": (1, math.inf),
    "network.dropout": (0, 1),
    "network.norm_decay": (0, 1),
    "task.max_length": (1, math.inf),
    "data.workers": (-1, math.inf),
    "data.minimum_kept": (0, 1),
    "augment.geometry": (0, 1),
    "augment.colour": (0, 1),
    "augment.blur": (0, 1),
    "augment.noise": (0, 1),
    "optimizer.momentum": (0, 1),
    "optimizer.epsilon": (0, math.inf),
    "optimizer.weight_decay": (0, math.inf),
    "optimizer.clip_norm": (0, math.inf),
    "schedule.warmup_steps": (0, math.inf),
    "schedule.end_learning_rate": (0, math.inf),
    "schedule.power": (0, math.inf),
    "loop.seed": (0, 2**63 - 1),
    "loop.patience": (0, math.inf),
    "loop.average": (0, 1),
}


def _out_of_range(recipe: Recipe) -> dict[str, bool]:
    problems = {}
    for key, (low, high) in _RANGES.items():
        section, name = key.split(".")
        value = getattr(getattr(recipe, section), name)
        within = f"from {low} to {high}" if high < math.inf else f"a number of {low} or more"
        # Written so that NaN and infinity are outside.
        problems[f"{key} must be {within}"] = not (low <= value <= high and value < math.inf)
    return problems
