"""Convolutions whose weights learn beside the way back, and one that is padded behind alone."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from trainferry.devices.lanes import beside
from trainferry.train.networks import layers
from trainferry.train.networks.convolve import LateConvolution, convolve, convolve_behind
from trainferry.train.networks.layers import SameConvolution, pad_same

CPU = torch.device("cpu")
CASES = {
    "3x3": nn.Conv2d(3, 5, 3, padding=1, bias=False),
    "every second": nn.Conv2d(3, 5, 3, stride=2, bias=False),
    "1x7": nn.Conv2d(3, 5, (1, 7), padding=(0, 3), bias=False),
    "with gaps, in groups": nn.Conv2d(3, 6, 2, dilation=2, groups=3, bias=False),
}


def images() -> Tensor:
    return torch.linspace(-1, 1, 2 * 3 * 8 * 10).sin().reshape(2, 3, 8, 10)


def learnt(convolution: nn.Conv2d, given: Tensor, result: Tensor) -> tuple[Tensor, Tensor | None]:
    (result * torch.linspace(-1, 1, result.numel()).reshape(result.shape)).sum().backward()
    assert convolution.weight.grad is not None
    gradient, convolution.weight.grad = convolution.weight.grad, None
    return gradient, given.grad


@pytest.mark.parametrize("convolution", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("learns", [True, False], ids=["map learns", "map does not"])
def test_weights_learn_the_same_beside_the_rest(convolution: nn.Conv2d, learns: bool) -> None:
    one, other = (images().requires_grad_(learns) for _ in range(2))
    expected = learnt(convolution, one, convolution(one))
    with beside(CPU):
        result = convolve(other, convolution)
        found = learnt(convolution, other, result)
    assert torch.equal(result, convolution(one))
    assert torch.equal(found[0], expected[0])
    assert learns == (found[1] is not None)
    if found[1] is not None and expected[1] is not None:
        assert torch.equal(found[1], expected[1])


def test_gradients_of_several_readers_add_up() -> None:
    convolution, given = LateConvolution(3, 4, 3, bias=False).double(), images().double()
    with beside(CPU):
        found = learnt(convolution, given, convolution(given) + convolution(given))
    expected = learnt(convolution, given, 2 * convolution(given))
    torch.testing.assert_close(found, expected)


def test_what_does_not_learn_gets_no_gradient() -> None:
    convolution = LateConvolution(3, 4, 3, bias=False).requires_grad_(False)
    given = images().requires_grad_()
    with beside(CPU):
        convolution(given).sum().backward()
    assert convolution.weight.grad is None
    assert given.grad is not None


def test_a_bias_is_added_as_ever() -> None:
    convolution = LateConvolution(3, 4, 3)
    with beside(CPU):
        found = convolution(images())
    assert torch.equal(found, nn.Conv2d.forward(convolution, images()))


@pytest.mark.parametrize("beside_the_rest", [True, False])
def test_zeros_behind_are_as_good_as_a_larger_map(beside_the_rest: bool) -> None:
    convolution = SameConvolution(3, 5, kernel=3, stride=2).double()
    one, other = (images().double().requires_grad_() for _ in range(2))
    padded = nn.functional.conv2d(pad_same(one, 3, 2), convolution.weight, stride=2)
    expected = learnt(convolution, one, padded)
    if beside_the_rest:
        with beside(CPU):
            result = convolve_behind(other, convolution)
            found = learnt(convolution, other, result)
    else:
        result = convolve_behind(other, convolution)
        found = learnt(convolution, other, result)
    torch.testing.assert_close(result, padded)
    torch.testing.assert_close(found, expected)


def test_small_maps_and_those_for_many_outputs_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "runs_kernels", lambda _: True)
    monkeypatch.setattr(layers, "is_narrow", lambda *_: False)
    taken: list[tuple[int, int]] = []
    for outputs, size in ((8, 512), (512, 512), (8, 16), (8, 511)):
        monkeypatch.setattr(
            layers, "convolve_behind", lambda *_, case=(outputs, size): taken.append(case)
        )
        convolution = SameConvolution(8, outputs, kernel=3, stride=2).half()
        convolution(torch.zeros(1, 8, size, size, dtype=torch.half))
    assert taken == [(8, 512)]
