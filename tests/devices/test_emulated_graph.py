"""Graphs of the emulated NPU do at a replay what was recorded, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from trainferry.devices.emulated_graph import NPUGraph, graph, is_current_stream_capturing


def record(work: Callable[[], Tensor]) -> tuple[NPUGraph, Tensor]:
    made = NPUGraph()
    with graph(made, capture_error_mode="thread_local"):
        assert is_current_stream_capturing()
        result = work()
    assert not is_current_stream_capturing()
    return made, result


def test_a_recording_changes_nothing_and_a_replay_does_the_work(emulated_npu: torch.device) -> None:
    total, step = torch.zeros(3, device=emulated_npu), torch.ones(3, device=emulated_npu)

    def work() -> Tensor:
        total.add_(step)
        total[1:].mul_(2)
        return total.sum()

    made, result = record(work)
    assert total.tolist() == [0, 0, 0]
    made.replay()
    assert total.tolist() == [1, 2, 2]
    step.fill_(10)
    made.replay()
    assert total.tolist() == [11, 24, 24]
    assert float(result) == 59


def test_random_numbers_follow_the_seed_of_a_replay(emulated_npu: torch.device) -> None:
    torch.manual_seed(5)
    made, drawn = record(lambda: torch.rand(4, device=emulated_npu))
    found = []
    for seed in (1, 2, 1):
        torch.manual_seed(seed)
        made.replay()
        found.append(drawn.tolist())
    assert found[0] == found[2] != found[1]
    torch.manual_seed(1)
    assert torch.rand(4).tolist() == found[0]
    torch.manual_seed(5)
    record(lambda: torch.rand(4, device=emulated_npu))
    untouched = torch.rand(1)
    torch.manual_seed(5)
    assert torch.equal(torch.rand(1), untouched)


def test_numbers_of_the_host_stay_what_they_were(emulated_npu: torch.device) -> None:
    values, factor = torch.ones(2, device=emulated_npu), torch.tensor(3.0)
    made, result = record(lambda: values * factor)
    factor.fill_(100)
    made.replay()
    assert result.tolist() == [3, 3]


WAITING: dict[str, Callable[[Tensor], Any]] = {
    "a number": lambda values: values.sum().item(),
    "a branch": lambda values: bool(values.sum() > 0),
    "a comparison": lambda values: torch.equal(values, values + 1),
    "places": lambda values: values.nonzero(),
    "to the host": lambda values: values.cpu(),
    "from the host": lambda values: values.copy_(torch.ones(3)),
}


@pytest.mark.parametrize("ask", WAITING.values(), ids=WAITING.keys())
def test_what_waits_for_the_device_cannot_be_recorded(
    emulated_npu: torch.device, ask: Callable[[Tensor], Any]
) -> None:
    values = torch.ones(3, device=emulated_npu)
    with pytest.raises(RuntimeError, match="waits for"):
        record(lambda: ask(values))
    assert not is_current_stream_capturing()
    assert float(values.sum()) == 3


@pytest.mark.parametrize("half", [None, torch.bfloat16])
def test_networks_that_the_cpu_computes_whole_learn_in_replays(
    emulated_npu: torch.device, half: torch.dtype | None
) -> None:
    torch.manual_seed(0)
    reader = nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True).to(emulated_npu)
    dropout = nn.Dropout(0.5)
    columns = torch.randn(2, 5, 4, device=emulated_npu)

    def work() -> Tensor:
        reader.zero_grad(set_to_none=True)
        with torch.autocast("npu", dtype=half, enabled=half is not None):
            read, _ = reader(dropout(columns))
        loss: Tensor = read.float().square().sum()
        loss.backward()
        return loss.detach()

    made, loss = record(work)
    gradients = [weight.grad for weight in reader.parameters()]
    columns.copy_(torch.randn(2, 5, 4).to(emulated_npu))
    torch.manual_seed(7)
    made.replay()
    found = [each.clone() for each in gradients if each is not None]
    torch.manual_seed(7)
    assert torch.equal(work(), loss)
    expected = [weight.grad for weight in reader.parameters()]
    assert len(found) == len(expected) == 16
    for mine, theirs in zip(found, expected, strict=True):
        assert theirs is not None
        assert torch.equal(mine, theirs)
