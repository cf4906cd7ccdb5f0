"""Which peer a user means, and what it is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from trainferry.devices.precision import Precision
from trainferry.errors import UsageError
from trainferry.train.recipe.networks import DenseNetRecipe, HRNetRecipe, ResNetRecipe
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import ClassifyRecipe, RecogniseRecipe

Mode = Literal["eager", "compile", "reduce-overhead"]
MODES: tuple[Mode, ...] = get_args(Mode)
PACKAGES = ("timm", "torchvision")
_HINT = "`--against timm`, `torchvision`, `timm:NAME`, `clovaai:CHECKOUT` or `FILE.py:FUNCTION`"

Step: TypeAlias = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """What a peer is given: it trains on pictures of this size as fast as it can."""

    batch: int
    height: int
    width: int
    classes: int
    labels: int  # characters of the longest text, or 1
    precision: Precision
    device: str
    mode: Mode


@dataclass(frozen=True)
class Peer:
    """`kind` is a package, `clovaai` or `file`; `name` a network, a checkout or FILE:FUNCTION."""

    kind: str
    name: str

    def __str__(self) -> str:
        return self.name if self.kind == "file" else f"{self.kind}:{self.name}"


def find_peer(asked: str, recipe: Recipe) -> Peer:
    """Read what `--against` says; a package alone means its network of the recipe's name."""
    kind, _, name = asked.partition(":")
    if kind in PACKAGES:
        if not isinstance(recipe.task, ClassifyRecipe):
            raise UsageError(f"{kind} has no network for `{recipe.name}`", hint=_HINT)
        if find_spec(kind) is None:
            raise UsageError(f"{kind} is not installed here", hint=f"pip install {kind}")
        return Peer(kind, name or _name(recipe))
    if kind == "clovaai":
        if not isinstance(recipe.task, RecogniseRecipe):
            raise UsageError(f"clovaai's networks read words; `{recipe.name}` does not", hint=_HINT)
        if not (Path(name) / "model.py").is_file():
            hint = "give `clovaai:` and a checkout of clovaai/deep-text-recognition-benchmark"
            raise UsageError(f"there is no `model.py` in `{name}`", hint=hint)
        return Peer(kind, str(Path(name).resolve()))
    path, _, function = asked.rpartition(":")
    if path.endswith(".py") and function.isidentifier():
        if not Path(path).is_file():
            raise UsageError(f"there is no file `{path}`", hint=_HINT)
        return Peer("file", f"{Path(path).resolve()}:{function}")
    raise UsageError(f"`{asked}` is no peer that is known", hint=_HINT)


def make_case(recipe: Recipe, device: str, mode: Mode) -> Case:
    """Tell the peer what the recipe trains on. The recipe is complete: it knows its classes."""
    task, picture = recipe.task, recipe.picture
    if isinstance(task, ClassifyRecipe):
        classes, labels = len(task.classes) + task.background, 1
    elif isinstance(task, RecogniseRecipe):
        classes, labels = len(task.alphabet) + 1, task.max_length
    else:
        raise UsageError(
            f"`{recipe.name}` has no peer: nobody publishes its network for PyTorch",
            hint="time it alone, without --against",
        )
    precision = recipe.precision.name
    batch = recipe.loop.batch
    return Case(batch, picture.height, picture.width, classes, labels, precision, device, mode)


def _name(recipe: Recipe) -> str:
    network = recipe.network
    if isinstance(network, ResNetRecipe):
        return f"resnet{network.size}"
    if isinstance(network, DenseNetRecipe):
        return f"densenet{network.size}"
    if isinstance(network, HRNetRecipe):
        return f"hrnet_w{network.width}"
    raise UsageError(f"`{recipe.name}` has no network of a known name", hint=_HINT)
