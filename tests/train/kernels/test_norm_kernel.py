"""The kernels of batch normalisation against torch's own in float64."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from trainferry.train.kernels import rows
from trainferry.train.kernels.norm import normalise, normalise_twice, reference
from trainferry.train.kernels.norm_passes import backward, counters, forward, tiles
from trainferry.train.kernels.norm_passes.counters import counters_of
from trainferry.train.kernels.norm_passes.values import Norm

pytestmark = pytest.mark.cuda

TOLERANCE = {torch.float32: 2e-5, torch.bfloat16: 1e-2, torch.float16: 2e-3}
SHAPES = [
    (2, 7, 3, 5),
    (5, 1, 2, 1),
    (4, 18, 7, 7),  # several pixels make one row of a table
    (3, 36, 5, 5),
    (2, 96, 4, 4),
    (1, 300, 3, 3),
    (9, 30, 1, 1),
    (3, 40, 7, 7),  # narrow tiles, the last of them not full; several splits
    (2, 264, 5, 5),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("rectified", [True, False])
@pytest.mark.parametrize("added", [True, False])
def test_values_gradients_and_statistics_are_those_of_torch(
    kernel_device: torch.device, shape: tuple[int, ...], rectified: bool, added: bool
) -> None:
    compare(make_norm(shape[1], kernel_device), shape, rectified=rectified, added=added)


@pytest.mark.parametrize("number_format", [torch.bfloat16, torch.float16])
def test_half_precision_is_rounded_once(
    kernel_device: torch.device, number_format: torch.dtype
) -> None:
    norm = make_norm(18, kernel_device)
    compare(norm, (4, 18, 7, 7), rectified=True, added=True, number_format=number_format)


def test_the_debiased_mean_moves_and_steps_are_counted(kernel_device: torch.device) -> None:
    norm = replace(
        make_norm(40, kernel_device),
        debiased=torch.zeros(40, device=kernel_device),
        steps=torch.tensor(4.0, device=kernel_device),
    )
    compare(norm, (3, 40, 4, 4), rectified=True, added=False)
    assert norm.steps is not None
    assert norm.steps.item() == 5.0


@pytest.mark.parametrize("channels", [18, 80])
def test_groups_have_statistics_of_their_own(kernel_device: torch.device, channels: int) -> None:
    norm = make_norm(channels, kernel_device)
    norm = replace(norm, mean=torch.zeros(4, channels), variance=torch.zeros(4, channels))
    norm = replace(norm, mean=norm.mean.to(kernel_device), variance=norm.variance.to(kernel_device))
    compare(norm, (8, channels, 3, 3), rectified=True, added=False)


@pytest.mark.parametrize("shape", [(3, 40, 7, 7), (4, 24, 6, 6), (2, 264, 5, 5)], ids=str)
@pytest.mark.parametrize("added", [True, False])
def test_another_launch_finishes_what_the_last_program_may_not(
    kernel_device: torch.device,
    monkeypatch: pytest.MonkeyPatch,
    shape: tuple[int, ...],
    added: bool,
) -> None:
    monkeypatch.setattr(rows.Shares, "last_can_join", lambda *_: False)
    compare(make_norm(shape[1], kernel_device), shape, rectified=True, added=added)


def test_small_maps_are_finished_without_another_launch(
    kernel_device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(forward, "finish_statistics")
    monkeypatch.delattr(backward, "_finish_gradients")
    compare(make_norm(40, kernel_device), (3, 40, 7, 7), rectified=True, added=True)


def test_programs_that_read_several_tiles_are_joined_as_well(
    kernel_device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_NARROW_SUMMING", 6)
    compare(make_norm(40, kernel_device), (5, 40, 10, 10), rectified=True, added=True)


def test_groups_of_several_splits_are_joined_by_one_program(kernel_device: torch.device) -> None:
    norm = make_norm(40, kernel_device)
    zeros = torch.zeros(2, 2, 40, device=kernel_device)
    norm = replace(norm, mean=zeros[0], variance=zeros[1])
    compare(norm, (4, 40, 9, 9), rectified=True, added=False)


@pytest.mark.parametrize("added", [True, False])
def test_tiles_on_their_way_change_nothing(
    kernel_device: torch.device, monkeypatch: pytest.MonkeyPatch, added: bool
) -> None:
    monkeypatch.setattr(tiles, "_FEW", 0)
    compare(make_norm(40, kernel_device), (5, 40, 10, 10), rectified=True, added=added)


def test_equal_inputs_give_equal_bits(kernel_device: torch.device) -> None:
    torch.manual_seed(0)
    features = torch.randn(8, 40, 12, 12, device=kernel_device)
    norm = replace(make_norm(40, kernel_device), momentum=1.0)
    found = [train(features, norm) for _ in range(3)]
    for again in found[1:]:
        assert all(torch.equal(*pair) for pair in zip(found[0], again, strict=True))


def test_counters_are_zero_after_use_and_stay_with_their_weight(
    kernel_device: torch.device,
) -> None:
    norm = make_norm(40, kernel_device)
    counters = counters_of(norm)
    train(torch.randn(3, 40, 7, 7, device=kernel_device), norm)
    assert not counters.any()
    assert counters_of(replace(norm, momentum=0.5)) is counters
    assert counters_of(make_norm(40, kernel_device)) is not counters
    assert counters_of(replace(norm, mean=norm.mean.repeat(2))).shape == (2, 80)
    assert counters_of(norm) is counters
    kept = weakref.ref(counters)
    del norm, counters
    gc.collect()
    assert kept() is None


def test_a_recording_keeps_no_counters_of_its_own(
    kernel_device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    norm = make_norm(40, kernel_device)
    monkeypatch.setattr(counters, "is_recording", lambda _: True)
    first = counters_of(norm)
    assert counters_of(norm) is not first
    monkeypatch.undo()
    kept = counters_of(norm)
    monkeypatch.setattr(counters, "is_recording", lambda _: True)
    assert counters_of(norm) is kept


@pytest.mark.parametrize("rehearsed", [True, False])
def test_replayed_norms_on_several_streams_give_the_same(
    kernel_device: torch.device, rehearsed: bool
) -> None:
    if kernel_device.type != "cuda":
        pytest.skip("only a GPU records")
    norms = [replace(make_norm(40, kernel_device), momentum=1.0) for _ in range(4)]
    features = torch.randn(4, 32, 40, 28, 28, device=kernel_device).bfloat16()
    expected = [train(*each) for each in zip(features, norms, strict=True)]
    if not rehearsed:
        norms = [replace(norm, weight=norm.weight.detach().clone()) for norm in norms]
    module: Any = torch.get_device_module(kernel_device)
    graph, lanes = module.CUDAGraph(), [module.Stream() for _ in norms]
    found = []
    with module.graph(graph):
        here = module.current_stream()
        for one, norm, lane in zip(features, norms, lanes, strict=True):
            lane.wait_stream(here)
            with module.stream(lane):
                found.append(train(one, norm))
        for lane in lanes:
            here.wait_stream(lane)
    for _ in range(50):
        graph.replay()
        for mine, theirs in zip(found, expected, strict=True):
            assert all(torch.equal(*pair) for pair in zip(mine, theirs, strict=True))


def test_a_large_mean_leaves_the_variance_exact(kernel_device: torch.device) -> None:
    torch.manual_seed(0)
    features = torch.randn(4, 16, 9, 9, device=kernel_device) + 3000
    norm = replace(make_norm(16, kernel_device), momentum=1.0)
    normalise(features, norm, rectified=True)
    variance = features.double().var(dim=(0, 2, 3))
    torch.testing.assert_close(norm.variance.double(), variance, rtol=1e-3, atol=0)


def test_what_is_no_number_is_not_hidden(kernel_device: torch.device) -> None:
    features = torch.randn(2, 4, 3, 3, device=kernel_device)
    features[0, 1] = torch.nan
    norm = make_norm(4, kernel_device)
    result = normalise(features, norm, rectified=True)
    assert result[:, 1].isnan().all()
    assert result[:, [0, 2, 3]].isfinite().all()
    assert norm.variance.isnan().tolist() == [False, True, False, False]


def test_gradients_may_be_part_of_a_wider_map(kernel_device: torch.device) -> None:
    torch.manual_seed(0)
    wish = torch.randn(2, 54, 5, 5, device=kernel_device)
    wish = wish.contiguous(memory_format=torch.channels_last)[:, 18:36]
    compare(make_norm(18, kernel_device), (2, 18, 5, 5), rectified=True, added=True, wish=wish)


@pytest.mark.parametrize("channels", [7, 40])
def test_two_readers_may_want_the_very_same(kernel_device: torch.device, channels: int) -> None:
    """Gradients that are one tensor count twice, and one that is missing not at all."""
    gradients = []
    for pick in (lambda a, b: a + b, lambda a, _: 2 * a, lambda _, b: 2 * b):
        torch.manual_seed(6)
        norm = make_norm(channels, kernel_device)
        features, shortcut = (
            torch.randn(3, channels, 4, 4, device=kernel_device, requires_grad=True)
            for _ in range(2)
        )
        total: Tensor = pick(*normalise_twice(features, norm, shortcut))
        total.backward(torch.ones_like(total))
        gradients.append((features.grad, shortcut.grad))
    for found in gradients[1:]:
        torch.testing.assert_close(found, gradients[0])


def make_norm(channels: int, device: torch.device) -> Norm:
    torch.manual_seed(1)
    values = torch.randn(4, channels, device=device)
    batches = torch.tensor(3, device=device)
    return Norm(
        values[0].abs() + 0.5,
        values[1] * 0.3,
        values[2].clone(),
        values[3].abs() + 0.5,
        momentum=0.1,
        epsilon=1e-3,
        batches=batches,
    )


def train(features: Tensor, norm: Norm) -> list[Tensor]:
    """Return result, gradients and statistics after a step forward and back."""
    trained = [
        features.detach().requires_grad_(),
        norm.weight.requires_grad_(),
        norm.bias.requires_grad_(),
    ]
    result = normalise(trained[0], norm, rectified=True)
    gradients = torch.autograd.grad(result, trained, result.detach())
    return [result.detach(), *gradients, norm.mean.clone(), norm.variance.clone()]


@pytest.mark.parametrize("channels", [18, 40])  # several pixels to a row of a table, and one
@pytest.mark.parametrize("groups", [1, 2])
def test_pixels_at_an_edge_may_lie_far_from_all_others(
    kernel_device: torch.device, channels: int, groups: int
) -> None:
    """They see the zeros around a map; distances from one of them would cancel in large sums."""
    torch.manual_seed(1)
    features = 10 + 0.01 * torch.randn(4, channels, 64, 64)
    features[:, :, 0, 0] = 1000
    norm = make_norm(channels, kernel_device)
    moving = torch.zeros(2, groups, channels, device=kernel_device)
    norm = replace(norm, mean=moving[0], variance=moving[1], momentum=1.0)
    normalise(features.to(kernel_device), norm, rectified=False)
    parts = features.double().view(groups, -1, channels, 64 * 64).transpose(1, 2).flatten(2)
    torch.testing.assert_close(norm.variance.cpu().double(), parts.var(2), rtol=1e-5, atol=0)


def compare(
    norm: Norm,
    shape: tuple[int, ...],
    *,
    rectified: bool,
    added: bool,
    number_format: torch.dtype = torch.float32,
    wish: Tensor | None = None,
) -> None:
    """Run kernels in the number format and the reference in float64 on the same numbers."""
    torch.manual_seed(0)
    maps = torch.randn(3, *shape, device=norm.weight.device).to(number_format)
    exact = in_float64(norm)
    found = []
    for function, one, wide in (
        (normalise, norm, number_format),
        (reference, exact, torch.float64),
    ):
        trained = [one.weight.requires_grad_(), one.bias.requires_grad_()]
        features, other = (
            each.to(wide, memory_format=torch.channels_last).requires_grad_() for each in maps[:2]
        )
        result = function(features, one, rectified=rectified, added=other if added else None)
        result.backward((maps[2] if wish is None else wish).to(wide))
        gradients = [each.grad for each in (features, *trained, *([other] if added else []))]
        counted = [one.mean, one.variance, one.batches, one.debiased, one.steps]
        found.append([result, *gradients, *(each for each in counted if each is not None)])
    for mine, theirs in zip(*found, strict=True):
        assert mine is not None
        assert theirs is not None
        scale = theirs.abs().max().item() + 1e-6
        tolerance = TOLERANCE[number_format] * scale
        torch.testing.assert_close(mine.double(), theirs.double(), rtol=0, atol=tolerance)


def in_float64(norm: Norm) -> Norm:
    return Norm(
        norm.weight.double(),
        norm.bias.double(),
        norm.mean.double(),
        norm.variance.double(),
        momentum=norm.momentum,
        epsilon=norm.epsilon,
        batches=None if norm.batches is None else norm.batches.clone(),
        debiased=None if norm.debiased is None else norm.debiased.double(),
        steps=None if norm.steps is None else norm.steps.double(),
    )
