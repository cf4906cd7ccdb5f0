"""Columns read in the order of time against torch's LSTM, values and all gradients."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from trainferry.train.kernels.lstm import _Halved, _Places, read_by_time
from trainferry.train.networks.crnn import ForgetBiasLSTM


@pytest.mark.parametrize(
    ("kind", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 2e-5)], ids=str
)
@pytest.mark.parametrize("shape", [(3, 5, 6), (1, 4, 6), (4, 1, 6)], ids=str)
def test_values_states_and_gradients_are_those_of_the_lstm(
    kind: torch.dtype, tolerance: float, shape: tuple[int, ...]
) -> None:
    ours = make_recurrence().to(kind)
    theirs = copy.deepcopy(ours)
    columns, other = (
        torch.linspace(-2, 3, 3 * 5 * 6, dtype=kind)[: shape[0] * shape[1] * 6]
        .view(shape)
        .sin()
        .requires_grad_()
        for _ in range(2)
    )
    facts = []
    for given, (read, (hidden, cell)) in (
        (columns, read_by_time(ours, columns)),
        (other, nn.LSTM.forward(theirs, other)),
    ):
        (read.square().sum() + (hidden * cell).sum()).backward()
        facts.append([read.detach(), hidden.detach(), cell.detach(), gradient_of(given)])
    weights = [[gradient_of(each) for each in one.parameters()] for one in (ours, theirs)]
    for mine, expected in zip(facts[0] + weights[0], facts[1] + weights[1], strict=True):
        torch.testing.assert_close(mine, expected, rtol=tolerance, atol=tolerance)


def test_what_comes_out_and_goes_back_lies_as_the_pictures_do() -> None:
    columns = torch.randn(3, 5, 6, requires_grad=True)
    seen: list[Tensor] = []
    passed = columns * 1
    passed.register_hook(seen.append)
    read, _ = read_by_time(make_recurrence(), passed)
    read.sum().backward()
    assert read.is_contiguous()
    assert seen[0].is_contiguous()


def test_half_weights_lie_where_asked_and_give_wide_gradients() -> None:
    weights = [torch.randn(2, 3, requires_grad=True), torch.randn(4), torch.randn(2)]
    weights[2].requires_grad_()
    halves = _Halved.apply(_Places((0, 10, 6), 16), *weights)
    assert [half.storage_offset() for half in halves] == [0, 10, 6]
    assert len({half.untyped_storage().data_ptr() for half in halves}) == 1
    for half, weight in zip(halves, weights, strict=True):
        assert torch.equal(half, weight.half())
    (halves[0].float().sum() * 2 + halves[2].float().sum() * 3).backward()
    assert torch.equal(gradient_of(weights[0]), torch.full((2, 3), 2.0))
    assert torch.equal(gradient_of(weights[2]), torch.full((2,), 3.0))
    assert weights[1].grad is None


@pytest.mark.cuda
def test_under_autocast_the_format_is_that_of_the_lstm(kernel_device: torch.device) -> None:
    """In cuDNN's memory order, too: the warning of weights in pieces would be an error here."""
    if kernel_device.type == "cpu":
        pytest.skip("needs cuDNN")
    torch.manual_seed(1)
    ours = ForgetBiasLSTM(64, 32, 2).to(kernel_device)
    theirs = copy.deepcopy(ours)
    facts = []
    for recurrence, read_with in ((ours, read_by_time), (theirs, nn.LSTM.forward)):
        torch.manual_seed(2)
        columns = torch.randn(8, 5, 64, device=kernel_device, dtype=torch.bfloat16)
        columns.requires_grad_()
        with torch.autocast(kernel_device.type, dtype=torch.bfloat16):
            read, (hidden, cell) = read_with(recurrence, columns)
        assert hidden.dtype == torch.float16
        read = read.bfloat16()
        read.float().square().sum().backward()
        gradients = [gradient_of(each) for each in (columns, *recurrence.parameters())]
        facts.append([read.detach(), hidden.detach(), cell.detach(), *gradients])
    for mine, expected in zip(*facts, strict=True):
        assert mine.dtype == expected.dtype
        scale = expected.abs().max().item()
        torch.testing.assert_close(mine, expected, rtol=0, atol=1e-2 * scale)


def make_recurrence() -> ForgetBiasLSTM:
    torch.manual_seed(0)
    recurrence = ForgetBiasLSTM(6, 4, 2)
    with torch.no_grad():
        for name, weight in recurrence.named_parameters():
            if name.startswith("bias"):
                weight.normal_()
    return recurrence


def gradient_of(tensor: Tensor) -> Tensor:
    assert tensor.grad is not None
    return tensor.grad
