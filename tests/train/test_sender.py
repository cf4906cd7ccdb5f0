"""Batches on their way to a device."""

from __future__ import annotations

import pytest
import torch

from trainferry.devices.device import find_accelerators
from trainferry.train.data.batch import Batch
from trainferry.train.sender import Sender

CPU = torch.device("cpu")


def numbered(number: int) -> Batch:
    rows = torch.full((3,), number)
    return Batch(
        rows[:, None, None, None].to(torch.uint8), rows[:, None], rows, rows >= 0, rows, rows[0]
    )


def test_a_device_that_records_nothing_gets_its_batches_at_once() -> None:
    sender = Sender(CPU)
    for number in range(5):
        there = sender(numbered(number))
        sender.mark()
        assert there.lengths.tolist() == 3 * [number]


@pytest.mark.cuda
@pytest.mark.skipif(
    not any(device.type == "cuda" for device in find_accelerators()), reason="needs an NVIDIA GPU"
)
def test_batches_arrive_whole_while_the_device_is_busy() -> None:
    device = torch.device("cuda")
    sender = Sender(device)
    total = torch.zeros(3, device=device, dtype=torch.int64)
    busy = torch.randn(2048, 2048, device=device)
    for number in range(50):
        there = sender(numbered(number).pin_memory())
        busy = (busy @ busy).clamp(-1, 1)
        total += there.lengths
        del there
        sender.mark()
    assert total.tolist() == 3 * [sum(range(50))]
