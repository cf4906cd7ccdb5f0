"""Many copies by one kernel, against one after the other."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from trainferry.train.kernels.copies import Copies, Multiples, reference

pytestmark = pytest.mark.cuda

WEIGHTS = [(18, 18, 3, 3), (5, 3, 7, 7), (7, 18, 1, 1), (130, 36, 1, 1)]
WIDER = [(24, 24, 3, 3), (8, 3, 7, 7), (8, 24, 1, 1), (136, 40, 1, 1)]


def test_weights_get_into_wider_ones_and_back(kernel_device: torch.device) -> None:
    torch.manual_seed(4)
    sources = [rows(torch.randn(shape, device=kernel_device)) for shape in WEIGHTS]
    goals, expected = (
        [rows(torch.zeros(shape, device=kernel_device)) for shape in WIDER] for _ in range(2)
    )
    copies = Copies()
    copies(sources, goals)
    reference(sources, expected)
    assert all(torch.equal(one, other) for one, other in zip(goals, expected, strict=True))
    back = [torch.empty_like(source) for source in sources]
    Copies()(goals, back)
    assert all(torch.equal(one, other) for one, other in zip(back, sources, strict=True))


def test_the_same_copies_serve_other_tensors(kernel_device: torch.device) -> None:
    copies = Copies()
    for number in range(3):
        sources = [torch.full((size,), float(number), device=kernel_device) for size in (3, 5000)]
        goals = [torch.zeros(size, device=kernel_device) for size in (8, 4999)]
        copies(sources, goals)
        assert goals[0].tolist() == 3 * [number] + 5 * [0]
        assert bool((goals[1] == number).all())


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_tensors_are_multiplied_by_factors_of_their_own(
    kernel_device: torch.device, kind: torch.dtype
) -> None:
    shapes = [(3,), (40, 70), (), (5, 3, 7, 7)]
    tensors = [torch.randn(shape, device=kernel_device, dtype=kind) for shape in shapes]
    tensors[-1] = rows(tensors[-1])
    factors = torch.tensor([0.5, 1.0, -2.0, 0.1], device=kernel_device, dtype=kind)
    expected = [each * factor for each, factor in zip(tensors, factors, strict=True)]
    multiply = Multiples()
    multiply(tensors, factors)
    for mine, theirs in zip(tensors, expected, strict=True):
        assert torch.equal(mine, theirs)
    multiply(tensors, 1 / factors)
    torch.testing.assert_close(tensors[1], expected[1])


def test_numbers_are_rounded_to_the_format_of_the_goal(kernel_device: torch.device) -> None:
    source = torch.randn(1000, device=kernel_device)
    goal = torch.zeros(1000, device=kernel_device, dtype=torch.bfloat16)
    Copies()([source], [goal])
    torch.testing.assert_close(goal.float(), source, rtol=2**-7, atol=0)


def test_what_no_kernel_takes_is_copied_all_the_same(kernel_device: torch.device) -> None:
    sources = [torch.arange(5.0, dtype=torch.float64, device=kernel_device)]
    goals = [torch.zeros(7, dtype=torch.float64, device=kernel_device)]
    Copies()(sources, goals)
    assert goals[0].tolist() == [0, 1, 2, 3, 4, 0, 0]
    Copies()([], [])


def rows(tensor: Tensor) -> Tensor:
    return tensor.contiguous(memory_format=torch.channels_last)
