"""The kernel that moves pixels against torch's grid_sample."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from trainferry.train.data.signs import augment
from trainferry.train.data.signs.augment import draw_maps, move_views
from trainferry.train.kernels.move import move_pictures
from trainferry.train.recipe.tasks import SignAugment

pytestmark = pytest.mark.cuda

SIZES = {"one pixel": (1, 1), "one row": (1, 9), "odd": (9, 7), "several parts": (26, 42)}

# fp32 rounds a place several times by 1e-7 of the view: some 1e-5 pixels of these small views.
# Neighbours in noise differ by up to 255, in both directions.
ROUNDING = 1e-2


@pytest.mark.parametrize("is_bytes", [True, False], ids=["bytes", "floats"])
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())
def test_pixels_come_from_where_grid_sample_takes_them(
    kernel_device: torch.device,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
    is_bytes: bool,
) -> None:
    views = noise(5, *size).to(kernel_device)
    views = views if is_bytes else views.float()
    torch.manual_seed(4)
    maps = draw_maps(5, SignAugment(crop=1.0, geometry=1.0)).to(kernel_device)
    mine = move_views(views, maps)
    assert mine.dtype == torch.float32
    monkeypatch.setattr(augment, "runs_kernels", lambda _: False)
    torch.testing.assert_close(mine, move_views(views, maps), rtol=0, atol=ROUNDING)


def test_places_outside_show_the_border(kernel_device: torch.device) -> None:
    views = noise(1, 6, 5).to(kernel_device)
    far = torch.tensor([[[0.0, 0.0, 7.0], [0.0, 0.0, -7.0], [0.0, 0.0, 1.0]]]).to(kernel_device)
    corner = views[:, :, :1, -1:].float().expand(views.shape)
    assert torch.equal(move_pictures(views, far), corner)


def test_views_may_lie_in_memory_as_they_like(kernel_device: torch.device) -> None:
    views = noise(2, 25, 31).to(kernel_device)
    torch.manual_seed(4)
    maps = draw_maps(2, SignAugment(crop=1.0, geometry=1.0)).to(kernel_device)
    turned = views.contiguous(memory_format=torch.channels_last)
    moved = move_pictures(turned, maps)
    assert moved.is_contiguous()
    torch.testing.assert_close(moved, move_pictures(views, maps), rtol=0, atol=ROUNDING)


def noise(count: int, height: int, width: int) -> Tensor:
    stream = torch.Generator().manual_seed(3)
    size = (count, 3, height, width)
    return torch.randint(0, 256, size, dtype=torch.uint8, generator=stream)
