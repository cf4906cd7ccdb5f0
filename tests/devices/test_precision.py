"""Autocast on every kind of device."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from trainferry.devices.precision import (
    PRECISIONS,
    Precision,
    autocast,
    check_precision,
    warn_of_precision,
)

FORMATS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@pytest.fixture(params=["cpu", "npu"])
def device(request: pytest.FixtureRequest, emulated_npu: torch.device) -> torch.device:
    return emulated_npu if request.param == "npu" else torch.device(request.param)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_products_are_computed_in_the_precision_asked_for(
    device: torch.device, precision: Precision
) -> None:
    network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(2, 2)).to(device)
    pictures = torch.ones(1, 1, 3, 3, device=device)
    with autocast(device, precision):
        scores = network(pictures)
    assert scores.dtype == FORMATS[precision]
    scores.float().sum().backward()
    gradients = [weight.grad for weight in network.parameters()]
    assert all(each is not None and each.dtype == torch.float32 for each in gradients)


def test_fp32_switches_an_outer_autocast_off(device: torch.device) -> None:
    square = torch.ones(2, 2, device=device)
    with autocast(device, "bf16"):
        assert (square @ square).dtype == torch.bfloat16
        with autocast(device, "fp32"):
            assert (square @ square).dtype == torch.float32
        assert (square @ square).dtype == torch.bfloat16
    assert (square @ square).dtype == torch.float32


def test_losses_stay_in_fp32_and_joined_tensors_take_the_widest(device: torch.device) -> None:
    narrow = torch.ones(2, 2, device=device, dtype=torch.bfloat16)
    with autocast(device, "bf16"):
        assert nn.functional.mse_loss(narrow, narrow).dtype == torch.float32
        assert torch.cat([narrow, narrow.float()]).dtype == torch.float32
        assert torch.stack([narrow, narrow]).dtype == torch.bfloat16


def test_whole_numbers_and_doubles_are_left_alone(device: torch.device) -> None:
    doubles = torch.ones(2, 2, device=device, dtype=torch.float64)
    with autocast(device, "bf16"):
        assert (doubles @ doubles).dtype == torch.float64


def test_every_precision_can_be_had_here(device: torch.device) -> None:
    for precision in PRECISIONS:
        check_precision(device, precision)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_slow_products_of_a_cpu_are_told_with_what_to_set(
    device: torch.device, precision: Precision
) -> None:
    note = warn_of_precision(device, precision)
    if device.type == "cpu" and precision == "fp16":
        assert note is not None
        assert "--set precision.name=fp32" in note
    else:
        assert note is None
