"""Captured networks: which devices can, and that a replayed step is the step itself."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from trainferry.devices.capture import REHEARSALS, VARIABLE, Recorded, capture, capture_helps
from trainferry.devices.device import find_accelerators, seed_device
from trainferry.errors import DeviceError

HAS_GPU = any(device.type == "cuda" for device in find_accelerators())


def test_only_a_gpu_records_without_being_asked(
    emulated_npu: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    devices = torch.device("cpu"), torch.device("cuda"), emulated_npu
    assert [capture_helps(device) for device in devices] == [False, True, False]
    monkeypatch.setenv(VARIABLE, "on")
    assert [capture_helps(device) for device in devices] == [False, True, True]


def test_a_device_without_graphs_is_told(
    emulated_npu: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "on")
    monkeypatch.delattr(torch.get_device_module(emulated_npu), "NPUGraph")
    with pytest.raises(DeviceError, match=r"`torch\.npu` has no `NPUGraph`") as caught:
        capture_helps(emulated_npu)
    assert VARIABLE in caught.value.hint


def test_what_cannot_be_recorded_is_told_with_a_way_out(
    emulated_npu: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "on")
    values = torch.ones(2, device=emulated_npu)
    recorded = Recorded(lambda: (values * float(values.sum()),), emulated_npu)
    for _ in range(REHEARSALS):
        assert recorded()[0].tolist() == [2, 2]
    with pytest.raises(
        DeviceError, match=r"could not be recorded: .* waits for the device"
    ) as caught:
        recorded()
    assert "loop.captured=false" in caught.value.hint


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


def test_where_nothing_is_recorded_every_call_does_the_work() -> None:
    total = torch.zeros(())

    def work() -> tuple[Tensor, ...]:
        total.add_(1)
        return (total,)

    recorded = Recorded(work, torch.device("cpu"))
    assert [float(recorded()[0]) for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    assert not recorded.is_recorded


@pytest.mark.cuda
@pytest.mark.skipif(not HAS_GPU, reason="needs an NVIDIA GPU")
def test_recorded_work_is_done_once_for_every_call() -> None:
    device = torch.device("cuda")
    total, step = torch.zeros((), device=device), torch.ones((), device=device)
    calls: list[None] = []

    def work() -> tuple[Tensor, ...]:
        calls.append(None)
        total.add_(step)
        return total, torch.rand(3, device=device)

    recorded = Recorded(work, device)
    drawn = []
    for number in range(8):
        step.fill_(number)
        seed_device(number % 4, device)
        sums, random = recorded()
        assert float(sums) == sum(range(number + 1))
        drawn.append(random.clone())
    assert recorded.is_recorded
    assert len(calls) == REHEARSALS + 1
    for first, again in zip(drawn[:4], drawn[4:], strict=True):
        assert torch.equal(first, again)
    assert not torch.equal(drawn[4], drawn[5])


@pytest.mark.cuda
@pytest.mark.skipif(not HAS_GPU, reason="needs an NVIDIA GPU")
def test_work_that_cannot_be_recorded_is_told() -> None:
    device = torch.device("cuda")
    value = torch.ones(1, device=device)

    def work() -> tuple[Tensor, ...]:
        return (value * float(value),)  # asks the device, which a recording cannot

    recorded = Recorded(work, device)
    for _ in range(REHEARSALS):
        recorded()
    with pytest.raises(DeviceError, match="could not be recorded") as caught:
        recorded()
    assert "loop.captured=false" in caught.value.hint
    # torch leaves the generator of a recording that failed to it: other tests draw from it.
    torch.get_device_module(device).default_generators[0].graphsafe_set_state(
        torch.Generator(device)
    )
    assert torch.rand(2, device=device).isfinite().all()
