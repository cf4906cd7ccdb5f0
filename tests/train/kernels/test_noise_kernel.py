"""The kernel that adds noise against plain torch."""

from __future__ import annotations

import pytest
import torch

from trainferry.train.data.share import Share
from trainferry.train.data.words import augment
from trainferry.train.data.words.augment import disturb
from trainferry.train.kernels.noise import takes

pytestmark = pytest.mark.cuda

# fp32 rounds 255 to 1.5e-5; the plain path rounds the product too.
ROUNDING = 5e-5
LAYOUTS = {"planes": torch.contiguous_format, "channels last": torch.channels_last}


@pytest.mark.parametrize("share", [Share(), Share(1, 3)], ids=["alone", "second of three"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("size", [(1, 1), (9, 7), (19, 31)])
def test_noise_is_that_of_the_plain_path(
    kernel_device: torch.device,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
    layout: torch.memory_format,
    share: Share,
) -> None:
    stream = torch.Generator().manual_seed(3)
    pictures = 255 * torch.rand(8, 3, *size, generator=stream)
    pictures = pictures.to(kernel_device).contiguous(memory_format=layout)
    before = pictures.clone()
    torch.manual_seed(6)
    mine, after = disturb(pictures, 1.0, share), torch.rand(1)
    assert torch.equal(pictures, before)
    monkeypatch.setattr(augment, "takes_noise", lambda *_: False)
    torch.manual_seed(6)
    theirs = disturb(pictures, 1.0, share)
    assert torch.equal(torch.rand(1), after)
    assert mine.stride() == theirs.stride()
    torch.testing.assert_close(mine, theirs, rtol=0, atol=ROUNDING)


def test_pictures_with_gaps_are_left_to_torch(kernel_device: torch.device) -> None:
    pictures = torch.rand(2, 3, 5, 8, device=kernel_device)
    assert takes(pictures, torch.randn_like(pictures))
    narrow = pictures[..., :7]
    assert not takes(narrow, torch.randn_like(narrow))
    assert not takes(pictures.double(), torch.randn_like(pictures).double())
