"""Values of a recipe that parse but cannot be trained."""

from __future__ import annotations

import math
from collections.abc import Mapping

from trainferry.errors import RecipeError
from trainferry.train.networks.inception_v3_parts import ENDPOINTS
from trainferry.train.networks.sizes import DENSENET_LAYERS, RESNET_BLOCKS
from trainferry.train.recipe.networks import (
    AttentionOCRRecipe,
    CRNNRecipe,
    DenseNetRecipe,
    HRNetRecipe,
    NetworkRecipe,
    ResNetRecipe,
)
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import (
    ClassifyRecipe,
    PhotoPicture,
    RecogniseRecipe,
    SignPicture,
    WordPicture,
)

_HINT = "give it another value with --set KEY=VALUE, or in the recipe's file"


def check_recipe(recipe: Recipe) -> None:
    """Raise RecipeError for the first value that makes no sense."""
    problems = {
        **_of_the_run(recipe),
        **_of_the_network(recipe.network),
        **_of_the_task(recipe),
        **_of_the_picture(recipe),
        **_out_of_range(recipe),
    }
    for problem, present in problems.items():
        if present:
            raise RecipeError(f"recipe `{recipe.name}`: {problem}", hint=_HINT)


def _of_the_run(recipe: Recipe) -> dict[str, bool]:
    optimizer, schedule, loop = recipe.optimizer, recipe.schedule, recipe.loop
    stages = max(len(schedule.boundaries), len(schedule.boundary_epochs))
    return {
        "loop.batch must be at least 1": loop.batch < 1,
        "schedule.steps must be at least 1": schedule.steps < 1,
        "optimizer.accumulation must divide loop.batch": optimizer.accumulation < 1
        or loop.batch % optimizer.accumulation != 0,
        "loop.log_every, evaluate_every and save_every must be at least 1": min(
            loop.log_every, loop.evaluate_every, loop.save_every
        )
        < 1,
        "loop.keep must be at least 1": loop.keep < 1,
        "schedule.factors needs one value more than there are boundaries": (
            schedule.name == "piecewise" and len(schedule.factors) != stages + 1
        ),
        "precision.loss_scale must be `none` unless precision.name is `fp16`": (
            recipe.precision.loss_scale != "none" and recipe.precision.name != "fp16"
        ),
        "optimizer.learning_rate must be positive": not (0 < optimizer.learning_rate < math.inf),
        "optimizer.betas must be two numbers of 0 or more, below 1": len(optimizer.betas) != 2
        or not all(0 <= beta < 1 for beta in optimizer.betas),
        "optimizer.nesterov needs an optimizer.momentum above 0": optimizer.nesterov
        and optimizer.momentum == 0,
        "data.jpeg `device` is for photographs": recipe.data.jpeg == "device"
        and not isinstance(recipe.picture, PhotoPicture),
    }


def _of_the_network(network: NetworkRecipe) -> dict[str, bool]:
    if isinstance(network, CRNNRecipe):
        return {
            "network.channels must be seven numbers for crnn": len(network.channels) != 7,
            "network.channels must be at least 1": min(network.channels, default=1) < 1,
        }
    if isinstance(network, ResNetRecipe):
        return {
            f"network.size must be one of {_listed(RESNET_BLOCKS)}": network.size
            not in RESNET_BLOCKS,
            "network.version must be 1 or 2": network.version not in (1, 2),
            "network.variant `zoo` has version 1 alone, and 50 layers or more": (
                network.variant == "zoo" and (network.version != 1 or network.size < 50)
            ),
        }
    if isinstance(network, DenseNetRecipe):
        return {
            f"network.size must be one of {_listed(DENSENET_LAYERS)}": network.size
            not in DENSENET_LAYERS
        }
    if isinstance(network, AttentionOCRRecipe):
        known = ", ".join(ENDPOINTS)
        return {f"network.endpoint must be one of {known}": network.endpoint not in ENDPOINTS}
    return {
        "network.head must be a multiple of 4": network.head % 4 != 0,
        "network.modules must be three numbers of 1 or more": len(network.modules) != 3
        or min(network.modules) < 1,
    }


def _of_the_task(recipe: Recipe) -> dict[str, bool]:
    task = recipe.task
    if isinstance(task, RecogniseRecipe):
        return {
            "task.alphabet has a character twice": len(set(task.alphabet)) != len(task.alphabet),
            "task.alphabet is empty": not task.alphabet,
        }
    if isinstance(task, ClassifyRecipe):
        return {"task.classes is empty": task.classes_from == "recipe" and not task.classes}
    return {
        "task.charset needs exactly one empty entry, the null": task.charset_from == "recipe"
        and task.charset.count("") != 1
    }


def _of_the_picture(recipe: Recipe) -> dict[str, bool]:
    picture = recipe.picture
    if isinstance(picture, WordPicture):
        return {
            "picture.height must be 32 for crnn": picture.height != 32,
            "picture.width must be a multiple of 4, at least 8": picture.width % 4 != 0
            or picture.width < 8,
        }
    if isinstance(picture, SignPicture):
        return _of_the_signs(picture)
    return _of_the_photos(recipe, picture)


def _of_the_signs(picture: SignPicture) -> dict[str, bool]:
    return {
        "picture.views must be at least 1": picture.views < 1,
        "picture.height and picture.width must be at least 1": min(picture.height, picture.width)
        < 1,
        **_of_the_values(picture),
    }


def _of_the_values(picture: PhotoPicture | SignPicture) -> dict[str, bool]:
    return {
        "picture.mean and picture.deviation must be three numbers": len(picture.mean) != 3
        or len(picture.deviation) != 3,
        "picture.deviation must be positive": min(picture.deviation, default=1) <= 0,
    }


def _of_the_photos(recipe: Recipe, picture: PhotoPicture) -> dict[str, bool]:
    size = min(picture.height, picture.width)
    least = smallest_picture(recipe.network)
    return {
        f"picture.height and picture.width must be at least {least} for {recipe.network.name}": (
            size < least
        ),
        "picture.height and picture.width must be multiples of 32 for hrnet": (
            isinstance(recipe.network, HRNetRecipe)
            and (picture.height % 32 != 0 or picture.width % 32 != 0)
        ),
        "picture.evaluation_size must be at least picture.height and picture.width": (
            picture.evaluation_size < max(picture.height, picture.width)
        ),
        **_of_the_values(picture),
        "picture.values must be `bytes` where data.jpeg is `device`": (
            picture.values != "bytes" and recipe.data.jpeg == "device"
        ),
        "picture.least_aspect must be positive and at most picture.most_aspect": not (
            0 < picture.least_aspect <= picture.most_aspect
        ),
        "picture.least_area must be above 0": picture.least_area <= 0,
        "picture.crop `canvas_box` needs data.jpeg `readers`": (
            picture.crop == "canvas_box" and recipe.data.jpeg == "device"
        ),
    }


def smallest_picture(network: NetworkRecipe) -> int:
    """Return how many pixels a side needs for the last map to have one."""
    if not isinstance(network, DenseNetRecipe):
        return 1
    return 63 if network.variant == "original" else 32  # of which 32, 15, 7, 3, 1 are left


_RANGES: dict[str, tuple[float, float]] = {
    "network.hidden": (1, math.inf),
    "network.layers": (1, math.inf),
    "network.dropout": (0, 1),
    "network.norm_decay": (0, 1),
    "network.width": (1, math.inf),
    "network.growth": (1, math.inf),
    "network.head": (4, math.inf),
    "network.blocks": (1, math.inf),
    "network.cell_clip": (0, math.inf),
    "task.max_length": (1, math.inf),
    "task.label_smoothing": (0, 1),
    "picture.least_area": (0, 1),
    "picture.attempts": (1, math.inf),
    "data.workers": (-1, math.inf),
    "data.minimum_kept": (0, 1),
    "data.synthetic": (0, math.inf),
    "augment.geometry": (0, 1),
    "augment.colour": (0, 1),
    "augment.blur": (0, 1),
    "augment.noise": (0, 1),
    "augment.flip": (0, 1),
    "augment.crop": (0, 1),
    "augment.operations": (0, math.inf),
    "augment.magnitude": (0, 30),
    "augment.mixup": (0, math.inf),
    "augment.cutmix": (0, math.inf),
    "augment.erasing": (0, 1),
    "optimizer.rate_for_batch": (0, math.inf),
    "optimizer.momentum": (0, 1),
    "optimizer.epsilon": (0, math.inf),
    "optimizer.trust": (0, math.inf),
    "optimizer.weight_decay": (0, math.inf),
    "optimizer.clip_norm": (0, math.inf),
    "schedule.warmup_steps": (0, math.inf),
    "schedule.end_learning_rate": (0, math.inf),
    "schedule.power": (0, math.inf),
    "schedule.staircase_steps": (0, math.inf),
    "schedule.epochs": (0, math.inf),
    "schedule.warmup_epochs": (0, math.inf),
    "schedule.staircase_epochs": (0, math.inf),
    "loop.seed": (0, 2**63 - 1),
    "loop.evaluate_epochs": (0, math.inf),
    "loop.save_epochs": (0, math.inf),
    "loop.patience": (0, math.inf),
    "loop.stop_at_score": (0, 1),
    "loop.average": (0, 1),
}


def _out_of_range(recipe: Recipe) -> dict[str, bool]:
    problems = {}
    for key, (low, high) in _RANGES.items():
        section, name = key.split(".")
        values = getattr(recipe, section)
        if not hasattr(values, name):
            continue
        value = getattr(values, name)
        within = f"from {low} to {high}" if high < math.inf else f"a number of {low} or more"
        # Written so that NaN and infinity are outside.
        problems[f"{key} must be {within}"] = not (low <= value <= high and value < math.inf)
    return problems


def _listed(known: Mapping[int, tuple[int, ...]]) -> str:
    return ", ".join(map(str, known))
