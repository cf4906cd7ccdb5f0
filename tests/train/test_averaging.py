"""The running average of the weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from trainferry.train.averaging import WeightAverage


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))


def test_a_young_average_forgets_faster() -> None:
    net = network()
    average = WeightAverage(net, 0.9)
    weight = net.get_parameter("0.weight")
    expected = weight.detach().clone()
    for step in range(1, 200):
        with torch.no_grad():
            weight.add_(0.1)
        average.update(step)
        decay = min(0.9, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * weight.detach()
    torch.testing.assert_close(average.values["0.weight"], expected)


def test_statistics_are_averaged_and_counters_are_not() -> None:
    names = WeightAverage(network(), 0.9).values.keys()
    assert {"1.running_mean", "1.running_var"} <= names
    assert "1.num_batches_tracked" not in names


def test_an_average_in_force_leaves_everything_as_it_was_even_after_an_error() -> None:
    net = network()
    average = WeightAverage(net, 0.9)
    with torch.no_grad():
        for weight in net.parameters():
            weight.add_(1.0)
    live = {name: value.clone() for name, value in net.state_dict().items()}
    kept = {name: value.clone() for name, value in average.values.items()}
    with pytest.raises(KeyboardInterrupt), average.in_force():  # noqa: PT012  # both belong inside
        assert torch.equal(net.get_parameter("0.weight"), kept["0.weight"])
        raise KeyboardInterrupt
    assert all(torch.equal(value, live[name]) for name, value in net.state_dict().items())
    assert all(torch.equal(value, kept[name]) for name, value in average.values.items())


def test_an_average_is_restored() -> None:
    net = network()
    average = WeightAverage(net, 0.9)
    saved = {name: value + 1 for name, value in average.values.items()}
    average.restore(saved)
    assert all(torch.equal(average.values[name], saved[name]) for name in saved)
    assert not torch.equal(net.get_parameter("0.weight"), saved["0.weight"])


@pytest.mark.parametrize("decay", [0.5, 0.999])
def test_weights_that_stand_still_are_their_own_average(decay: float) -> None:
    net = network()
    average = WeightAverage(net, decay)
    for step in range(5):
        average.update(step)
    torch.testing.assert_close(average.values["0.weight"], net.get_parameter("0.weight").detach())
