"""The kernel that blurs against torch's average pooling and interpolation."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from trainferry.train.data.share import Share
from trainferry.train.data.words import augment
from trainferry.train.data.words.augment import blur
from trainferry.train.kernels.blur import KINDS, blur_pictures

pytestmark = pytest.mark.cuda

SIZES = {
    "smallest": (2, 2),
    "odd": (9, 7),
    "odd and even": (8, 11),
    "even": (6, 14),
    "several parts": (26, 42),
}

# fp32 rounds 255 to 1.5e-5; an average of averages and the mixing behind it round a few times.
ROUNDING = 2e-4


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())
def test_pictures_are_blurred_as_on_the_plain_path(
    kernel_device: torch.device, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    pictures, share = noise(10, *size).to(kernel_device), Share(1, 3)
    torch.manual_seed(6)
    mine, after = blur(pictures, 1.6, share), torch.rand(1)
    monkeypatch.setattr(augment, "runs_kernels", lambda _: False)
    torch.manual_seed(6)
    theirs = blur(pictures, 1.6, share)
    assert torch.equal(torch.rand(1), after)
    assert 4 < int((theirs != pictures).flatten(1).any(1).sum()) < 10
    torch.testing.assert_close(mine, theirs, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("kind", range(KINDS))
def test_each_kind_has_its_number(kernel_device: torch.device, kind: int) -> None:
    pictures = noise(1, 11, 12)
    own = torch.tensor([[kind, 1.0]], device=kernel_device)
    soft = functional.avg_pool2d(pictures, 3, 1, 1, count_include_pad=False)
    expected = (
        soft,
        functional.avg_pool2d(soft, 3, 1, 1, count_include_pad=False),
        functional.avg_pool2d(pictures, (1, 5), 1, (0, 2), count_include_pad=False),
        functional.interpolate(
            functional.interpolate(pictures, (5, 6), mode="area"), (11, 12), mode="bilinear"
        ),
    )[kind]
    blurred = blur_pictures(pictures.to(kernel_device), own).cpu()
    torch.testing.assert_close(blurred, expected, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("kind", range(KINDS))
def test_what_has_one_colour_keeps_it(kernel_device: torch.device, kind: int) -> None:
    plain = torch.full((1, 3, 13, 10), 200.0, device=kernel_device)
    own = torch.tensor([[kind, 0.7]], device=kernel_device)
    torch.testing.assert_close(blur_pictures(plain, own), plain, rtol=0, atol=ROUNDING)


def test_pictures_without_blur_keep_their_bits(kernel_device: torch.device) -> None:
    pictures = noise(3, 33, 35).to(kernel_device)
    none = torch.tensor([[KINDS, 0.9]], device=kernel_device).repeat(3, 1)
    assert torch.equal(blur_pictures(pictures, none), pictures)


def test_pictures_stay_as_they_lie_in_memory(kernel_device: torch.device) -> None:
    pictures = noise(KINDS, 21, 26).to(kernel_device)
    own = torch.tensor([[kind, 0.8] for kind in range(KINDS)], device=kernel_device)
    turned = pictures.contiguous(memory_format=torch.channels_last)
    blurred = blur_pictures(turned, own)
    assert blurred.stride() == turned.stride()
    torch.testing.assert_close(blurred, blur_pictures(pictures, own), rtol=0, atol=ROUNDING)


def noise(count: int, height: int, width: int) -> Tensor:
    stream = torch.Generator().manual_seed(3)
    return 255 * torch.rand(count, 3, height, width, generator=stream)
