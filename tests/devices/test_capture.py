"""Captured networks: which devices can, and that a replayed step is the step itself."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from trainferry.devices.capture import capture, capture_helps
from trainferry.devices.device import find_accelerators

HAS_GPU = any(device.type == "cuda" for device in find_accelerators())


def test_only_a_real_gpu_is_captured(emulated_npu: torch.device) -> None:
    assert not capture_helps(torch.device("cpu"))
    assert not capture_helps(emulated_npu)
    assert capture_helps(torch.device("cuda"))


@pytest.mark.cuda
@pytest.mark.skipif(not HAS_GPU, reason="needs an NVIDIA GPU")
def test_a_replayed_step_gives_the_gradients_and_statistics_of_a_plain_one() -> None:
    device = torch.device("cuda")
    torch.manual_seed(0)
    plain = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 4)
    ).to(device)
    replayed = copy.deepcopy(plain)
    images = [torch.randn(5, 3, 8, 8, device=device) for _ in range(3)]
    capture(replayed, [images[0].clone()], "fp32")
    for batch in images:
        for network in (plain, replayed):
            network.zero_grad(set_to_none=True)
            network(batch).square().mean().backward()
        for mine, theirs in zip(plain.parameters(), replayed.parameters(), strict=True):
            torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-4, atol=1e-6)
    for kept, moved in zip(plain.buffers(), replayed.buffers(), strict=True):
        torch.testing.assert_close(kept, moved)
    assert torch.equal(plain.eval()(images[0]), replayed.eval()(images[0]))
