"""Parts of pictures of any size, cut out and resized to one size, in one device program.

Beside it stands the same in plain torch, which is the reference. The filters are those of recipes:
"antialias" averages all pixels when it shrinks, as Pillow's BILINEAR does; "legacy" looks at two
pixels each way, without half pixels, as TensorFlow 1 does. Values are rounded once, at the end.

Shapes: N parts, 3 planes; a picture lies plane after plane, row after row, in a line of pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Literal

import torch
from torch import Tensor

from trainferry.devices.device import send
from trainferry.devices.kernels import runs_kernels_on
from trainferry.train.kernels.rows import power_of_two

Filter = Literal["antialias", "legacy"]


@dataclass(frozen=True)
class Part:
    """A part of a picture that begins at pixel `start` of a line: where it is, and how large."""

    start: int
    picture_height: int
    picture_width: int
    top: int
    left: int
    height: int
    width: int
    mirrored: bool


def cut_parts(
    pixels: Tensor, parts: Sequence[Part], height: int, width: int, filter: Filter
) -> Tensor:
    """Return the parts as bytes, N `height` `width` 3; mirrored ones before they are resized."""
    made = pixels.new_empty((len(parts), height, width, 3))
    if not parts:
        return made
    if not runs_kernels_on(pixels.device):
        return torch.stack([_cut(pixels, part, height, width, filter) for part in parts], out=made)
    from trainferry.train.kernels.programs.cut import cut_rows

    table = torch.tensor([astuple(part) for part in parts], dtype=torch.int64)
    cut_rows[len(parts), height](
        pixels,
        send(table, pixels.device),
        made,
        height,
        width,
        ANTIALIAS=filter == "antialias",
        COLUMNS=power_of_two(width),
    )
    return made


def _cut(pixels: Tensor, part: Part, height: int, width: int, filter: Filter) -> Tensor:
    size = 3, part.picture_height, part.picture_width
    picture = pixels[part.start :][: 3 * size[1] * size[2]].view(size)
    cut = picture[:, part.top :, part.left :][:, : part.height, : part.width].float()
    if part.mirrored:
        cut = cut.flip(2)
    down = spread(part.height, height, filter).to(cut.device)
    across = spread(part.width, width, filter).to(cut.device)
    return (down @ cut @ across.t()).permute(1, 2, 0).round().clamp(0, 255).byte()


def spread(count: int, size: int, filter: Filter) -> Tensor:
    """Return how much each of `count` lines is in each of `size` lines spread over them."""
    if filter == "antialias":
        middles = (torch.arange(size) + 0.5) * (count / size)
        far = (torch.arange(count) + 0.5 - middles[:, None]).abs()
        weights = (1 - far / max(count / size, 1.0)).clamp(min=0)
        return weights / weights.sum(1, keepdim=True)
    numbers = torch.arange(size) * count
    first, share = numbers // size, (numbers % size) / size
    weights = torch.zeros(size, count)
    weights.scatter_add_(1, first[:, None], (1 - share)[:, None])
    return weights.scatter_add_(1, (first + 1).clamp(max=count - 1)[:, None], share[:, None])
