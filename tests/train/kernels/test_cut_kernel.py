"""Parts cut out of pictures and resized: plain torch against the readers, a kernel against it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from trainferry.train.data.legacy_resize import resize_legacy
from trainferry.train.data.pictures import Picture, resize_picture
from trainferry.train.kernels import cut
from trainferry.train.kernels.cut import Filter, Part, cut_parts, spread

FILTERS: tuple[Filter, ...] = ("antialias", "legacy")
SHRINK, GROW, MIXED = (5, 7), (13, 14), (6, 20)  # made of parts of about 9 x 10


@pytest.mark.parametrize("size", [SHRINK, GROW, MIXED])
def test_parts_are_what_readers_make(size: tuple[int, int]) -> None:
    """Pillow rounds after each direction, and we at the end: a level at most lies between."""
    pictures = _pictures()
    pixels, parts = _line_up(pictures)
    smooth = cut_parts(pixels, parts, *size, "antialias").int()
    legacy = cut_parts(pixels, parts, *size, "legacy").float()
    for picture, part, smoothed, sampled in zip(pictures, parts, smooth, legacy, strict=True):
        shown = _shown(picture, part)
        expected = torch.from_numpy(resize_picture(shown, *size, "antialias").copy()).int()
        assert int((smoothed - expected).abs().max()) <= 1
        exact = torch.from_numpy(resize_legacy(shown, *size))
        assert float((sampled - exact).abs().max()) <= 0.501


def test_weights_of_a_line_are_a_whole() -> None:
    for filter in FILTERS:
        for count, size in ((1, 5), (5, 1), (7, 7), (500, 224)):
            sums = spread(count, size, filter).sum(1)
            torch.testing.assert_close(sums, torch.ones(size))


def test_no_parts_are_no_pictures() -> None:
    assert cut_parts(torch.zeros(9, dtype=torch.uint8), [], 4, 5, "legacy").shape == (0, 4, 5, 3)


@pytest.mark.cuda
@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("size", [SHRINK, GROW, MIXED, (1, 1)])
def test_the_kernel_cuts_as_plain_torch_does(
    kernel_device: torch.device,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
    filter: Filter,
) -> None:
    pixels, parts = _line_up(_pictures())
    mine = cut_parts(pixels.to(kernel_device), parts, *size, filter).cpu()
    monkeypatch.setattr(cut, "runs_kernels_on", lambda _: False)
    apart = (mine.int() - cut_parts(pixels, parts, *size, filter).int()).abs()
    # Sums in another order may fall on the other side of a half.
    assert int(apart.max()) <= 1
    assert float((apart > 0).float().mean()) < 0.01


def _pictures() -> list[Picture]:
    dice = np.random.default_rng(0)
    sizes = ((11, 15), (19, 9), (10, 12), (1, 9), (9, 1))
    return [dice.integers(0, 256, (*size, 3), np.uint8) for size in sizes]


def _line_up(pictures: list[Picture]) -> tuple[Tensor, list[Part]]:
    parts, planes, start = [], [], 0
    for number, picture in enumerate(pictures):
        height, width = picture.shape[:2]
        top, left = height // 5, width // 6
        size = height - top - height // 10, width - left - width // 10
        parts.append(Part(start, height, width, top, left, *size, mirrored=number % 2 == 1))
        planes.append(torch.from_numpy(picture).permute(2, 0, 1).flatten())
        start += picture.size
    return torch.cat(planes), parts


def _shown(picture: Picture, part: Part) -> Picture:
    cut = picture[part.top :, part.left :][: part.height, : part.width]
    return np.ascontiguousarray(cut[:, ::-1] if part.mirrored else cut)
