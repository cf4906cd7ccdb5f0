"""The typed sections of a recipe: every value that decides a run, with its default."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from trainferry.train.recipe.networks import (
    AttentionOCRRecipe,
    CRNNRecipe,
    DenseNetRecipe,
    HRNetRecipe,
    NetworkRecipe,
    ResNetRecipe,
)
from trainferry.train.recipe.tasks import (
    AugmentRecipe,
    ClassifyRecipe,
    PhotoAugment,
    PhotoPicture,
    PictureRecipe,
    RecogniseRecipe,
    SignAugment,
    SignPicture,
    SpellRecipe,
    TaskRecipe,
    WordAugment,
    WordPicture,
)


@dataclass(frozen=True)
class DataRecipe:
    """How samples are read; `workers` -1 means one less than the cores.

    With `synthetic` samples nothing is read: that many are made up, to try out speed. `jpeg` says
    who decodes photographs to train on: the processes that read, or a device that has a decoder.
    """

    workers: int = -1
    minimum_kept: float = 0.5
    synthetic: int = 0
    jpeg: Literal["readers", "device"] = "readers"


@dataclass(frozen=True)
class OptimizerRecipe:
    """How gradients become updates. `clip_norm` 0 clips nothing, and "each" is of each weight.

    With a `rate_for_batch`, `learning_rate` is the rate of a batch of that size, and other
    batches have one in proportion. `trained` "head" changes the last layer alone.
    """

    name: Literal["momentum", "adam", "adamw", "lars"] = "momentum"
    learning_rate: float = 0.01
    rate_for_batch: int = 0
    momentum: float = 0.9
    nesterov: bool = False
    betas: tuple[float, ...] = (0.9, 0.999)
    epsilon: float = 1e-8
    trust: float = 0.001
    weight_decay: float = 0.0
    decayed: Literal["kernels", "all_but_norms", "all", "convolutions_and_head"] = "kernels"
    trained: Literal["all", "head"] = "all"
    clip_norm: float = 0.0
    clipped: Literal["all", "each"] = "all"
    accumulation: int = 1


@dataclass(frozen=True)
class ScheduleRecipe:
    """The learning rate over the steps.

    Lengths in epochs (passes over the training samples) become steps when the data is known;
    0 or an empty list leaves the steps as they are. `decay_from` says what `cosine` and
    `polynomial` count from. With `cosines` the warm-up follows a cosine, too. An epoch of
    `whole_epochs` leaves out the last batch, if it is not full.
    """

    name: Literal["cosine", "cosines", "polynomial", "piecewise", "constant"] = "cosine"
    steps: int = 240_000
    warmup_steps: int = 0
    end_learning_rate: float = 0.0
    power: float = 1.0
    boundaries: tuple[int, ...] = ()
    factors: tuple[float, ...] = ()
    decay_from: Literal["start", "warmup"] = "start"
    staircase_steps: int = 0
    epochs: float = 0.0
    warmup_epochs: float = 0.0
    boundary_epochs: tuple[float, ...] = ()
    staircase_epochs: float = 0.0
    whole_epochs: bool = False


@dataclass(frozen=True)
class LoopRecipe:
    """Batch, seed, and what happens how often. `patience` and `average` 0 mean off.

    `batch` is of all ranks together. `captured` lets a device that can do it replay the network
    as one recorded graph, and with `whole_step` loss and update too. With several ranks, `local`
    batch norms see the samples of one of them and `synchronised` ones the whole batch.
    """

    batch: int = 64
    seed: int = 0
    log_every: int = 100
    evaluate_every: int = 5000
    save_every: int = 5000
    evaluate_epochs: float = 0.0
    save_epochs: float = 0.0
    keep: int = 5
    patience: int = 0
    stop_at_score: float = 0.0
    average: float = 0.0
    captured: bool = True
    whole_step: bool = True
    norms: Literal["local", "synchronised"] = "local"


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
    network: NetworkRecipe = field(default_factory=CRNNRecipe)
    task: TaskRecipe = field(default_factory=RecogniseRecipe)
    picture: PictureRecipe = field(default_factory=WordPicture)
    data: DataRecipe = field(default_factory=DataRecipe)
    augment: AugmentRecipe = field(default_factory=WordAugment)
    optimizer: OptimizerRecipe = field(default_factory=OptimizerRecipe)
    schedule: ScheduleRecipe = field(default_factory=ScheduleRecipe)
    loop: LoopRecipe = field(default_factory=LoopRecipe)
    precision: PrecisionRecipe = field(default_factory=PrecisionRecipe)


_WORDS: dict[str, type] = {
    "task": RecogniseRecipe,
    "picture": WordPicture,
    "augment": WordAugment,
}
_PHOTOS: dict[str, type] = {
    "task": ClassifyRecipe,
    "picture": PhotoPicture,
    "augment": PhotoAugment,
}
_SIGNS: dict[str, type] = {
    "task": SpellRecipe,
    "picture": SignPicture,
    "augment": SignAugment,
}
_SHARED: dict[str, type] = {
    "data": DataRecipe,
    "optimizer": OptimizerRecipe,
    "schedule": ScheduleRecipe,
    "loop": LoopRecipe,
    "precision": PrecisionRecipe,
}

# Every network with its sections: the network decides what a recipe can say.
SECTIONS: dict[str, dict[str, type]] = {
    "crnn": {"network": CRNNRecipe, **_WORDS, **_SHARED},
    "resnet": {"network": ResNetRecipe, **_PHOTOS, **_SHARED},
    "densenet": {"network": DenseNetRecipe, **_PHOTOS, **_SHARED},
    "hrnet": {"network": HRNetRecipe, **_PHOTOS, **_SHARED},
    "attention_ocr": {"network": AttentionOCRRecipe, **_SIGNS, **_SHARED},
}
