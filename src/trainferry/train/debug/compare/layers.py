"""Two networks on the same pictures, layer by layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from trainferry.devices.precision import Precision, autocast, full_precision
from trainferry.errors import DataError
from trainferry.train.build import OpenRun, evaluation_source
from trainferry.train.data.pictures import Picture
from trainferry.train.debug.compare.difference import Difference
from trainferry.train.debug.layers import WHOLE, Layer, visit_layers
from trainferry.train.export.samples import Samples, made_samples
from trainferry.train.predict.reader import first_samples
from trainferry.train.recipe.tasks import ClassifyRecipe, RecogniseRecipe, WordPicture

TOLERANCES: dict[Precision, float] = {"fp32": 1e-4, "fp16": 1e-2, "bf16": 5e-2}
"""Of a layer's largest value: two devices add in other orders, and half precision rounds."""

_WORDS, _PHOTOS, _SIGNS = 32, 8, 8
_TOGETHER = 4  # pictures; all layers of both networks are in memory for them

Key: TypeAlias = tuple[Layer, str]


@dataclass(frozen=True)
class Side:
    """A network that is compared, and how it computes."""

    opened: OpenRun
    precision: Precision


def choose_samples(opened: OpenRun, data: Path | None, split: str) -> Samples:
    """Take the first pictures of the records, or make some up."""
    count = _SIGNS
    if isinstance(opened.recipe.task, RecogniseRecipe):
        count = _WORDS
    elif isinstance(opened.recipe.task, ClassifyRecipe):
        count = _PHOTOS
    if data is None:
        made = made_samples(opened)
        return Samples(made.pictures[:count], made.origin)
    source = evaluation_source(opened.recipe, data, split)
    pictures, _, unreadable = first_samples(source, count)
    if not pictures:
        raise DataError(
            f"no picture of the {split} records of {data} can be read",
            hint="`trainferry data check` tells what is wrong with them",
        )
    return Samples(pictures, f"the {split} records of {data}", unreadable=unreadable)


def compare_layers(one: Side, other: Side, data: Path | None, split: str) -> list[Difference]:
    """Give both the same pictures, each prepared as its recipe says; in the order of time."""
    mine = choose_samples(one.opened, data, split)
    theirs = mine
    if one.opened.recipe.picture != other.opened.recipe.picture:
        theirs = choose_samples(other.opened, data, split)
    differences: dict[Key, Difference] = {}
    count = min(len(mine.pictures), len(theirs.pictures))
    for start in range(0, count, _TOGETHER):
        part = slice(start, min(start + _TOGETHER, count))
        seen, seen_too = _look(one, mine.pictures[part]), _look(other, theirs.pictures[part])
        _add(differences, seen, seen_too)
    return list(differences.values())


@torch.no_grad()
def _look(side: Side, pictures: Sequence[Picture]) -> dict[Key, Tensor]:
    """Return what goes into the network and comes out of every layer."""
    opened = side.opened
    picture = opened.recipe.picture
    stacked = np.stack(pictures)
    if isinstance(picture, WordPicture) and picture.order == "bgr":
        stacked = stacked[..., ::-1]
    images = torch.from_numpy(np.ascontiguousarray(stacked)).to(opened.device)
    collector = _Collector()
    handles = visit_layers(opened.network, collector)
    try:
        with _computing(side):
            opened.network(opened.task.inputs(images))
    finally:
        for handle in handles:
            handle.remove()
    return collector.kept


def _computing(side: Side) -> AbstractContextManager[object]:
    if side.precision == "fp32":
        return full_precision(side.opened.device)
    return autocast(side.opened.device, side.precision)


class _Collector:
    def __init__(self) -> None:
        self.kept: dict[Key, Tensor] = {}
        self._calls: Counter[Layer] = Counter()

    def enter(self, layer: Layer, inputs: Sequence[Tensor]) -> None:
        if layer.name == WHOLE:
            for number, tensor in enumerate(inputs):
                self._keep(layer, f"input{number}", tensor)

    def leave(self, layer: Layer, outputs: Sequence[Tensor]) -> None:
        for number, tensor in enumerate(outputs):
            self._keep(layer, f"output{number}", tensor)
        self._calls[layer] += 1

    def _keep(self, layer: Layer, name: str, tensor: Tensor) -> None:
        call = self._calls[layer]
        # A copy in any case: what follows may change it in place.
        self.kept[layer, f"call{call}.{name}" if call else name] = tensor.detach().cpu().clone()


def _add(
    differences: dict[Key, Difference], one: dict[Key, Tensor], other: dict[Key, Tensor]
) -> None:
    for key in _in_order(one, other):
        layer, name = key
        found = differences.setdefault(key, Difference(layer.name, layer.kind, name))
        if key in one and key in other:
            found.add(one[key], other[key])
        else:
            found.reason = f"only in the {'first' if key in one else 'second'}"


def _in_order(one: dict[Key, Tensor], other: dict[Key, Tensor]) -> Iterator[Key]:
    """Yield the keys of the first in its order, then those that only the second has."""
    yield from one
    yield from (key for key in other if key not in one)
