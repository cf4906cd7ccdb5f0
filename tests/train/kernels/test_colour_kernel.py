"""The kernels that change colours against the plain changes, each view in its own order."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from trainferry.train.data.share import Share
from trainferry.train.data.signs import augment
from trainferry.train.data.signs.augment import ORDERS, Change, Colours, vary_views
from trainferry.train.kernels.colour import change_colours
from trainferry.train.recipe.tasks import SignAugment

pytestmark = pytest.mark.cuda

NUMBERS: dict[Change, int] = {
    augment.change_brightness: 0,
    augment.change_saturation: 1,
    augment.change_hue: 2,
    augment.change_contrast: 3,
}
STRONG = Colours(
    *torch.tensor([[30.0, -31.0], [1.4, 0.5], [0.2, -0.13], [1.5, 0.6]])[..., None, None, None]
)
SIZES = {"one pixel": (1, 1), "small": (5, 7), "several parts": (33, 67), "one row": (1, 1025)}

# The hue is counted in sixths, up to 12: fp32 rounds them to 5e-7, which is 1.2e-4 of a reach of
# 255. A few such roundings, stretched by saturation and contrast, stay below this.
ROUNDING = 1e-3


@pytest.mark.parametrize("order", ORDERS, ids=range(len(ORDERS)))
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())
def test_colours_are_those_of_the_plain_changes(
    kernel_device: torch.device, order: tuple[Change, ...], size: tuple[int, int]
) -> None:
    views = noise(2, *size)
    changed = change_colours(views.to(kernel_device), changes(order).to(kernel_device))
    assert changed.is_contiguous()
    torch.testing.assert_close(changed.cpu(), truth(views, order), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("order", ORDERS, ids=range(len(ORDERS)))
def test_few_colours_and_greys_change_alike(
    kernel_device: torch.device, order: tuple[Change, ...]
) -> None:
    views = torch.randint(0, 3, (2, 3, 19, 23), generator=stream()) * 127.5
    changed = change_colours(views.to(kernel_device), changes(order).to(kernel_device))
    torch.testing.assert_close(changed.cpu(), truth(views, order), rtol=0, atol=ROUNDING)


def test_views_may_lie_in_memory_as_they_like(kernel_device: torch.device) -> None:
    views = noise(2, 35, 41).to(kernel_device)
    own = changes(ORDERS[1]).to(kernel_device)
    expected = change_colours(views, own)
    wide = torch.zeros(2, 4, 36, 90, device=kernel_device)
    inside = wide[:, 1:, 1:, 3:85:2]
    inside.copy_(views)
    turned = views.transpose(2, 3).contiguous().transpose(2, 3)
    for same in (views.contiguous(memory_format=torch.channels_last), inside, turned):
        assert same.stride() != views.stride()
        torch.testing.assert_close(change_colours(same, own), expected, rtol=0, atol=ROUNDING)


def test_equal_views_get_equal_bits_wherever_they_are(kernel_device: torch.device) -> None:
    views = noise(1, 61, 59).to(kernel_device).repeat(5, 1, 1, 1)
    own = changes(ORDERS[3])[:1].repeat(5, 1, 1).to(kernel_device)
    changed = change_colours(views, own)
    assert torch.equal(changed, changed[:1].expand_as(changed))
    assert torch.equal(changed, change_colours(views, own))


def test_no_views_are_no_work(kernel_device: torch.device) -> None:
    nothing = torch.empty(0, 3, 5, 5, device=kernel_device)
    assert change_colours(nothing, torch.empty(0, 2, 4, device=kernel_device)).shape == (0, 3, 5, 5)


@pytest.mark.parametrize("share", [Share(), Share(1, 3)], ids=["alone", "second of three"])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_kernels_draw_the_numbers_of_the_plain_path(
    kernel_device: torch.device, monkeypatch: pytest.MonkeyPatch, share: Share, count: int
) -> None:
    views, recipe = noise(count, 21, 17).to(kernel_device), SignAugment(crop=0.0, colour=1.0)
    torch.manual_seed(5)
    mine, after = vary_views(views, recipe, share), torch.rand(1)
    monkeypatch.setattr(augment, "runs_kernels", lambda _: False)
    torch.manual_seed(5)
    theirs = vary_views(views, recipe, share)
    assert torch.equal(torch.rand(1), after)
    torch.testing.assert_close(mine, theirs, rtol=0, atol=ROUNDING)


def stream() -> torch.Generator:
    return torch.Generator().manual_seed(3)


def noise(count: int, height: int, width: int) -> Tensor:
    return 255 * torch.rand(count, 3, height, width, generator=stream())


def changes(order: tuple[Change, ...]) -> Tensor:
    """Write two views' strong changes in one order, as the kernel takes them."""
    numbers = torch.tensor([NUMBERS[change] for change in order])
    amounts = torch.cat(STRONG, dim=1).flatten(1)
    return torch.stack([numbers.expand(2, 4).float(), amounts[:, numbers]], dim=1)


def truth(views: Tensor, order: tuple[Change, ...]) -> Tensor:
    changed = views.double()
    for change in order:
        changed = change(changed, Colours(*(one.double() for one in STRONG)))
    return changed.clamp(0, 255).float()
