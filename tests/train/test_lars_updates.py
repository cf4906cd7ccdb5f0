"""LARS: the updates of TensorFlow's, on every device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from trainferry.devices.device import choose_device
from trainferry.train.lars import LARS
from trainferry.train.optimizer import (
    build_optimizer,
    optimizer_state,
    restore_optimizer_state,
    set_learning_rate,
)
from trainferry.train.recipe.sections import OptimizerRecipe

CPU = torch.device("cpu")
FILE = Path(__file__).parent / "files" / "lars.json"
HAS_GPU = choose_device("auto").type == "cuda"


class Weights(nn.Module):
    """The variables of the file as parameters; the order of their values does not matter here."""

    def __init__(self, values: dict[str, Any], device: torch.device = CPU) -> None:
        super().__init__()
        for name, value in values.items():
            tensor = torch.tensor(value, dtype=torch.float32, device=device)
            self.register_parameter(name, nn.Parameter(tensor))


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(FILE.read_text())
    return read


def update(network: Weights, optimizer: torch.optim.Optimizer, facts: dict[str, Any]) -> None:
    for rate, gradients in zip(facts["rates"], facts["gradients"], strict=True):
        for name, weight in network.named_parameters():
            weight.grad = torch.tensor(gradients[name], dtype=torch.float32, device=weight.device)
        set_learning_rate(optimizer, rate)
        optimizer.step()


def build(facts: dict[str, Any], nesterov: bool, device: torch.device) -> tuple[Weights, LARS]:
    network = Weights(facts["start"], device)
    recipe = OptimizerRecipe(name="lars", momentum=0.9, weight_decay=1e-4, nesterov=nesterov)
    optimizer = build_optimizer(recipe, network, device)
    assert isinstance(optimizer, LARS)
    return network, optimizer


def check_updated(network: Weights, optimizer: LARS, facts: dict[str, Any], nesterov: bool) -> None:
    expected = facts["after"][str(nesterov)]
    state = optimizer_state(optimizer, network)
    for name, weight in network.named_parameters():
        for ours, kind in ((weight, "variables"), (state[f"{name}::momentum_buffer"], "momentum")):
            values = np.array(expected[kind][name])
            np.testing.assert_allclose(
                ours.detach().cpu().numpy(), values, rtol=1e-6, atol=1e-6 * np.abs(values).max()
            )


@pytest.mark.parametrize("nesterov", [False, True])
def test_five_updates_are_those_of_tensorflow(facts: dict[str, Any], nesterov: bool) -> None:
    network, optimizer = build(facts, nesterov, CPU)
    update(network, optimizer, facts)
    check_updated(network, optimizer, facts, nesterov)


@pytest.mark.parametrize("nesterov", [False, True])
def test_five_updates_on_the_npu_are_those_of_tensorflow(
    facts: dict[str, Any], nesterov: bool, emulated_npu: torch.device
) -> None:
    network, optimizer = build(facts, nesterov, emulated_npu)
    update(network, optimizer, facts)
    check_updated(network, optimizer, facts, nesterov)


@pytest.mark.cuda
@pytest.mark.skipif(not HAS_GPU, reason="needs an NVIDIA GPU")
@pytest.mark.parametrize("nesterov", [False, True])
def test_five_updates_on_a_gpu_are_those_of_tensorflow(
    facts: dict[str, Any], nesterov: bool
) -> None:
    network, optimizer = build(facts, nesterov, torch.device("cuda:0"))
    update(network, optimizer, facts)
    check_updated(network, optimizer, facts, nesterov)


def test_a_weight_without_a_gradient_stays_and_has_no_state(facts: dict[str, Any]) -> None:
    network, optimizer = build(facts, False, CPU)
    kernel = network.get_parameter("dense/kernel")
    kernel.grad = torch.ones_like(kernel)
    optimizer.step()
    assert list(optimizer_state(optimizer, network)) == ["dense/kernel::momentum_buffer"]
    bias = network.get_parameter("dense/bias")
    assert torch.equal(bias, torch.tensor(facts["start"]["dense/bias"]))


def test_the_state_comes_back(facts: dict[str, Any]) -> None:
    network, optimizer = build(facts, True, CPU)
    update(network, optimizer, facts)
    other = Weights(facts["start"])
    other.load_state_dict(network.state_dict())
    second = build_optimizer(
        OptimizerRecipe(name="lars", momentum=0.9, weight_decay=1e-4, nesterov=True), other, CPU
    )
    state = {key: one.clone() for key, one in optimizer_state(optimizer, network).items()}
    restore_optimizer_state(second, other, state)
    update(network, optimizer, facts)
    update(other, second, facts)
    for one, again in zip(network.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, again)
