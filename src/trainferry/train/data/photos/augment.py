"""Variation of training photographs, for a whole batch at once and on the device.

Random numbers are drawn on the CPU, so that every device varies the pictures alike, and sent
without waiting. Shapes: B pictures, 3 H W, values 0 to 255, K classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from trainferry.devices.device import send
from trainferry.train.data.normalise import per_channel
from trainferry.train.data.photos.operations import CHANGES, MOVES, move_pictures
from trainferry.train.data.share import WHOLE, Share
from trainferry.train.recipe.tasks import PhotoAugment

STRONGEST = 30.0
"""The magnitude at which operations go as far as they can."""

_ERASED_AREA = (0.02, 0.33)
_ERASED_ASPECT = (0.3, 3.3)


@dataclass(frozen=True)
class Mixture:
    """How each picture of a batch is mixed with the one before it.

    `own` is the share that a picture keeps. With a `box` (top, left, bottom, right) the other
    picture stands inside it, else the two are laid over each other.
    """

    own: float
    box: tuple[int, int, int, int] | None = None

    def pictures(self, values: Tensor) -> Tensor:
        others = values.roll(1, 0)
        if self.box is None:
            return torch.lerp(others, values, self.own)
        top, left, bottom, right = self.box
        rows = torch.arange(values.shape[2], device=values.device)[:, None]
        columns = torch.arange(values.shape[3], device=values.device)
        inside = (rows >= top) & (rows < bottom) & (columns >= left) & (columns < right)
        return torch.where(inside, others, values)

    def targets(self, shares: Tensor) -> Tensor:
        """Mix the classes, B K, as the pictures are."""
        return torch.lerp(shares.roll(1, 0), shares, self.own)


def vary_photos(
    values: Tensor, recipe: PhotoAugment, outside: tuple[float, ...], share: Share = WHOLE
) -> Tensor:
    """Change each picture by operations of its own, and erase a part of some.

    `outside` is what comes in where a picture was moved away or erased.
    """
    for _ in range(recipe.operations):
        values = _operate(values, recipe.magnitude / STRONGEST, outside, share)
    if recipe.erasing:
        values = _erase(values, recipe.erasing, outside, share)
    return values


def draw_mixture(recipe: PhotoAugment, height: int, width: int) -> Mixture | None:
    """Decide how the pictures of a batch are mixed: not at all, by mixup or by cutmix.

    Zhang et al., 2017, https://arxiv.org/abs/1710.09412; Yun et al., 2019,
    https://arxiv.org/abs/1905.04899. Where both are asked for, each batch has one of them.
    """
    if not recipe.mixup and not recipe.cutmix:
        return None
    cuts = recipe.cutmix > 0 and (not recipe.mixup or float(torch.rand(())) < 0.5)
    alpha = recipe.cutmix if cuts else recipe.mixup
    own = float(torch.distributions.Beta(alpha, alpha).sample())
    if not cuts:
        return Mixture(own)
    reach = math.sqrt(1 - own) / 2
    middle_y, middle_x = torch.rand(2).tolist()
    top, bottom = _cut(middle_y - reach, height), _cut(middle_y + reach, height)
    left, right = _cut(middle_x - reach, width), _cut(middle_x + reach, width)
    # The part of a box that hangs over the edge is lost: what is left of it counts.
    own = 1 - (bottom - top) * (right - left) / (height * width)
    return Mixture(own, (top, left, bottom, right))


def _operate(values: Tensor, strength: float, outside: tuple[float, ...], share: Share) -> Tensor:
    """Change every picture by one operation, as much as `strength` says, to either side."""
    kinds, hands, strengths = _deal_own(len(values), strength, share)
    dealt = torch.cat(hands)
    back = torch.empty_like(dealt)
    back[dealt] = torch.arange(len(dealt))

    sizes = [len(hand) for hand in hands]
    taken = values.index_select(0, send(dealt, values.device)).split(sizes)
    strong = send(strengths.view(-1, 1, 1, 1), values.device).split(sizes)
    moves = sum(kind < len(MOVES) for kind in kinds)
    done = []
    if moves:
        signed = strengths.split(sizes)[:moves]
        maps = [MOVES[kind](own) for kind, own in zip(kinds[:moves], signed, strict=True)]
        fill = per_channel(outside, values.device)
        done.append(
            move_pictures(torch.cat(taken[:moves]), send(torch.cat(maps), values.device), fill)
        )
    for kind, pictures, own in list(zip(kinds, taken, strong, strict=True))[moves:]:
        done.append(CHANGES[kind - len(MOVES)](pictures, own))
    return torch.cat(done).index_select(0, send(back, values.device))


def _deal_own(rows: int, strength: float, share: Share) -> tuple[list[int], list[Tensor], Tensor]:
    """Deal the whole batch out; return what falls on the rows of this rank, and how strongly."""
    kinds, hands = _deal(share.whole(rows))
    signed = strength * (torch.randint(2, (share.whole(rows),)) * 2.0 - 1)
    own: list[tuple[int, Tensor, Tensor]] = []
    for kind, hand, strengths in zip(
        kinds, hands, signed.split(list(map(len, hands))), strict=True
    ):
        here, mine = share.own_numbers(hand, rows)
        if len(mine):
            own.append((kind, mine, strengths[here]))
    return [each[0] for each in own], [each[1] for each in own], torch.cat([e[2] for e in own])


def _deal(count: int) -> tuple[list[int], list[Tensor]]:
    """Deal pictures out to the operations; return those that got some, moves first, and which.

    Instead of an operation drawn for each picture alone, each operation has its equal share of
    the pictures: it computes no others, and its sizes hardly change from batch to batch.
    """
    order = torch.randperm(count)
    turns = torch.randperm(len(MOVES) + len(CHANGES)).tolist()
    kinds = sorted(turns[:count])
    return kinds, [order[turns.index(kind) :: len(turns)] for kind in kinds]


def _erase(values: Tensor, often: float, outside: tuple[float, ...], share: Share) -> Tensor:
    """Zhong et al., 2017, https://arxiv.org/abs/1708.04896."""
    count, _, height, width = values.shape
    erased, area, aspect, down, along = _draw(5, count, share)
    area = area * (_ERASED_AREA[1] - _ERASED_AREA[0]) + _ERASED_AREA[0]
    low, high = (math.log(each) for each in _ERASED_ASPECT)
    aspect = torch.exp(aspect * (high - low) + low)
    tall = torch.sqrt(area * aspect * height * width).clamp(max=height).round()
    wide = torch.sqrt(area / aspect * height * width).clamp(max=width).round()
    top, left = torch.floor(down * (height - tall + 1)), torch.floor(along * (width - wide + 1))
    tall = torch.where(erased < often, tall, torch.zeros_like(tall))

    boxes = send(torch.stack((top, top + tall, left, left + wide)), values.device)
    top, bottom, left, right = boxes.unbind()
    rows = torch.arange(height, device=values.device)[:, None]
    columns = torch.arange(width, device=values.device)
    inside = (rows >= top) & (rows < bottom) & (columns >= left) & (columns < right)
    return torch.where(inside, per_channel(outside, values.device), values)


def _draw(numbers: int, count: int, share: Share) -> Iterator[Tensor]:
    """Yield random numbers from 0 to 1, B 1 1 1 each."""
    yield from share.own(torch.rand(numbers, share.whole(count), 1, 1, 1), 1).unbind()


def _cut(place: float, side: int) -> int:
    return min(max(round(place * side), 0), side)
