"""A loss scale on the device moves as the one on the host does."""

from __future__ import annotations

import random

import pytest
import torch

from trainferry.devices.loss_scale import LossScale, LossScaleMode, LossScaleOptions
from trainferry.devices.scale_on_device import ScaleOnDevice

CPU = torch.device("cpu")


def scale(mode: LossScaleMode, start: float) -> LossScale:
    return LossScale(LossScaleOptions(mode, start, grow_after=3, shrink_after=2))


@pytest.mark.parametrize("mode", ["static", "dynamic"])
@pytest.mark.parametrize("start", [1.0, 3e7, 2.0**127])
@pytest.mark.parametrize("clean", [0.2, 0.5, 0.95])
def test_moves_as_the_scale_of_the_host(mode: LossScaleMode, start: float, clean: float) -> None:
    steps = random.Random(0)
    host, told = scale(mode, start), scale(mode, start)
    there = ScaleOnDevice(told, CPU)
    for _ in range(60):
        finite = steps.random() < clean
        host.update(finite)
        there.update(torch.tensor(0.0 if finite else 1.0))
        there.tell(there.facts().tolist())
        assert told.state() == host.state()
        assert told.overflows_in_a_row == host.overflows_in_a_row


def test_begins_where_the_scale_stands() -> None:
    host = scale("dynamic", 64.0)
    for finite in (True, True, False):
        host.update(finite)
    before = host.state()
    there = ScaleOnDevice(host, CPU)
    there.tell(there.facts().tolist())
    assert host.state() == before
    assert host.overflows_in_a_row == 1


def test_scaling_and_dividing_are_those_of_the_host() -> None:
    host = scale("dynamic", 3e7)
    there = ScaleOnDevice(host, CPU)
    loss = torch.tensor(1.7)
    assert torch.equal(there.scale(loss), host.scale(loss))
    assert torch.equal(there.inverse(), torch.full((), 1 / 3e7))
