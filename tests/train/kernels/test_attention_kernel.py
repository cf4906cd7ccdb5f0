"""The attention decoder's kernels against the plain steps, values and gradients."""

from __future__ import annotations

import os

import pytest
import torch
from torch import Tensor

from trainferry.devices.kernels import chains_kernels, has_quick_tanh
from trainferry.train.kernels import attention_cut
from trainferry.train.kernels.attention import Steps
from trainferry.train.networks.attention_steps import PlainSteps

pytestmark = pytest.mark.cuda

# steps, samples, places, channels, hidden
SHAPES = {
    "small": (3, 2, 5, 4, 3),
    "one place": (2, 1, 1, 3, 2),
    "no sample": (2, 0, 3, 4, 3),
    "odd": (3, 3, 67, 70, 33),
    "several parts and blocks": (2, 2, 130, 96, 130),
    "several tiles of samples": (2, 18, 3, 20, 17),
}


@pytest.mark.parametrize("clip", [10.0, 0.4])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_values_and_gradients_are_those_of_the_plain_steps(
    kernel_device: torch.device, shape: tuple[int, ...], clip: float
) -> None:
    given = inputs(shape, kernel_device)
    theirs, of_theirs = values_and_gradients(PlainSteps, clip, given)
    mine, of_mine = values_and_gradients(Steps, clip, given)
    torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=2e-6)
    for gradient, expected in zip(of_mine, of_theirs, strict=True):
        torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("programs", [1, 6])
def test_a_program_may_look_at_many_places(
    kernel_device: torch.device, programs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention_cut, "_LOOKING", programs)
    given = inputs((3, 2, 70, 40, 24), kernel_device)
    theirs, of_theirs = values_and_gradients(PlainSteps, 10.0, given)
    mine, of_mine = values_and_gradients(Steps, 10.0, given)
    torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=2e-6)
    for gradient, expected in zip(of_mine, of_theirs, strict=True):
        torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-5)


def test_a_second_time_gives_the_same_bits(kernel_device: torch.device) -> None:
    given = inputs((3, 5, 67, 40, 24), kernel_device)
    first, of_first = values_and_gradients(Steps, 10.0, given)
    second, of_second = values_and_gradients(Steps, 10.0, given)
    for one, two in zip((first, *of_first), (second, *of_second), strict=True):
        assert torch.equal(one, two)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_in_half_precision_they_are_as_near_to_the_truth_as_the_plain_steps(
    kernel_device: torch.device, kind: torch.dtype
) -> None:
    given = inputs((4, 2, 67, 40, 24), kernel_device)
    truth, of_truth = values_and_gradients(PlainSteps, 10.0, [each.double() for each in given])
    halves = [given[0], *(each.to(kind) for each in given[1:])]
    theirs, of_theirs = values_and_gradients(PlainSteps, 10.0, halves)
    mine, of_mine = values_and_gradients(Steps, 10.0, halves)
    for true, plain, own in zip(
        (truth, *of_truth), (theirs, *of_theirs), (mine, *of_mine), strict=True
    ):
        assert error(own, true) <= 1.5 * error(plain, true) + 1e-3


def test_kernels_are_chained_only_where_they_are_compiled(kernel_device: torch.device) -> None:
    keys = torch.zeros(1, device=kernel_device)
    assert not chains_kernels(keys.cpu())
    if os.environ.get("TRITON_INTERPRET") == "1":
        assert not chains_kernels(keys)


def test_only_half_precision_is_compared_quickly(kernel_device: torch.device) -> None:
    compiles = kernel_device.type != "cpu" and os.environ.get("TRITON_INTERPRET") != "1"
    for kind in (torch.float32, torch.bfloat16, torch.float16):
        keys = torch.zeros(1, dtype=kind, device=kernel_device)
        assert has_quick_tanh(keys) == (compiles and kind != torch.float32)
        assert not has_quick_tanh(keys.cpu())


def inputs(shape: tuple[int, ...], device: torch.device) -> list[Tensor]:
    steps, samples, places, channels, hidden = shape
    shapes = [
        (steps, samples, 4 * hidden),
        (samples, places, channels),
        (samples, places, channels),
        (4 * hidden, hidden + channels),
        (channels, 2 * hidden),
        (channels,),
        (channels,),
    ]
    stream = torch.Generator().manual_seed(3)
    scale = (hidden + channels) ** -0.5
    matrices = {3, 4}
    return [
        (torch.randn(each, generator=stream) * (scale if number in matrices else 1.0)).to(device)
        for number, each in enumerate(shapes)
    ]


def values_and_gradients(
    steps: type[torch.autograd.Function], clip: float, given: list[Tensor]
) -> tuple[Tensor, list[Tensor]]:
    leaves = [each.detach().clone().requires_grad_() for each in given]
    states = steps.apply(clip, *leaves)
    weights = torch.linspace(-1.0, 1.0, states.numel(), dtype=states.dtype, device=states.device)
    (states * weights.reshape(states.shape)).sum().backward()
    gradients = [leaf.grad for leaf in leaves]
    assert None not in gradients
    return states.detach(), [each for each in gradients if each is not None]


def error(value: Tensor, truth: Tensor) -> float:
    """The largest difference, in parts of the largest true value."""
    return float((value.double() - truth).abs().max() / truth.abs().max())
