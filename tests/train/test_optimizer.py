"""Optimizers: TensorFlow's momentum, decay where it belongs, and a state that comes back."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from trainferry.errors import CheckpointError
from trainferry.train.optimizer import (
    build_optimizer,
    optimizer_state,
    restore_optimizer_state,
    set_learning_rate,
)
from trainferry.train.recipe.sections import OptimizerRecipe

CPU = torch.device("cpu")
GRADIENTS = (1.0, -0.5, 2.0, 0.25)
RATES = (0.1, 0.05, 0.2, 0.1)


class OneWeight(nn.Module):
    """A matrix of one number and a bias."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[2.0]]))
        self.bias = nn.Parameter(torch.tensor([2.0]))


class OwnNorm(nn.BatchNorm2d):
    """A normalisation of somebody's own, whose name and type say nothing of it."""


class SmallPictures(nn.Module):
    """A convolution, two norms and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.own_norm = OwnNorm(4)
        self.classifier = nn.Linear(4, 5)

    def forward(self, images: Tensor) -> Tensor:
        features = self.own_norm(self.norm(self.stem(images)))
        return self.classifier(features.mean(dim=(2, 3)))


def decaying(recipe: OptimizerRecipe) -> set[str]:
    """Return the weights of the groups with weight decay; the other group has none."""
    network = SmallPictures()
    optimizer = build_optimizer(recipe, network, CPU)
    names = {weight: name for name, weight in network.named_parameters()}
    groups = optimizer.param_groups
    assert sum(len(group["params"]) for group in groups) == len(names)
    assert {group["weight_decay"] for group in groups} == {0.0, 0.5}
    return {
        names[weight] for group in groups if group["weight_decay"] for weight in group["params"]
    }


def moved(recipe: OptimizerRecipe) -> float:
    """Return where the weight is after updates with changing gradients and rates."""
    network = OneWeight()
    optimizer = build_optimizer(recipe, network, CPU)
    for gradient, rate in zip(GRADIENTS, RATES, strict=True):
        network.weight.grad = torch.full((1, 1), gradient)
        set_learning_rate(optimizer, rate)
        optimizer.step()
    return network.weight.item()


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_is_that_of_tensorflow(nesterov: bool) -> None:
    weight, kept = 2.0, 0.0
    for gradient, rate in zip(GRADIENTS, RATES, strict=True):
        kept = 0.95 * kept + gradient
        weight -= rate * (gradient + 0.95 * kept if nesterov else kept)
    recipe = OptimizerRecipe(name="momentum", momentum=0.95, nesterov=nesterov)
    assert moved(recipe) == pytest.approx(weight, rel=1e-6)


def test_adam_is_that_of_the_paper() -> None:
    weight, mean, square = 2.0, 0.0, 0.0
    for count, (gradient, rate) in enumerate(zip(GRADIENTS, RATES, strict=True), 1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        unbiased = mean / (1 - 0.9**count), square / (1 - 0.999**count)
        weight -= rate * unbiased[0] / (unbiased[1] ** 0.5 + 1e-8)
    assert moved(OptimizerRecipe(name="adam")) == pytest.approx(weight, rel=1e-5)


@pytest.mark.parametrize("name", ["momentum", "adam", "adamw"])
def test_decay_reaches_matrices_and_leaves_biases_alone(name: str) -> None:
    network = OneWeight()
    recipe = OptimizerRecipe(name=name, learning_rate=0.1, weight_decay=0.5)  # type: ignore[arg-type]  # parametrised
    optimizer = build_optimizer(recipe, network, CPU)
    for parameter in network.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    assert network.weight.item() < 2.0
    assert network.bias.item() == 2.0


@pytest.mark.parametrize(
    ("decayed", "expected"),
    [
        ("kernels", {"stem.weight", "classifier.weight"}),
        ("all_but_norms", {"stem.weight", "classifier.weight", "classifier.bias"}),
        ("all", {name for name, _ in SmallPictures().named_parameters()}),
    ],
)
@pytest.mark.parametrize("name", ["momentum", "adamw"])
def test_decay_reaches_what_the_recipe_says(name: str, decayed: str, expected: set[str]) -> None:
    recipe = OptimizerRecipe(name=name, weight_decay=0.5, decayed=decayed)  # type: ignore[arg-type]  # parametrised
    assert decaying(recipe) == expected


@pytest.mark.parametrize("decayed", ["kernels", "all_but_norms", "all"])
def test_lars_decays_kernels_alone(decayed: str) -> None:
    recipe = OptimizerRecipe(name="lars", weight_decay=0.5, decayed=decayed)  # type: ignore[arg-type]  # parametrised
    assert decaying(recipe) == {"stem.weight", "classifier.weight"}


@pytest.mark.parametrize("name", ["momentum", "adam", "adamw", "lars"])
def test_a_head_is_trained_alone_while_statistics_go_on_moving(name: str) -> None:
    network = SmallPictures()
    recipe = OptimizerRecipe(name=name, weight_decay=0.5, decayed="all", trained="head")  # type: ignore[arg-type]  # parametrised
    optimizer = build_optimizer(recipe, network, CPU)
    before = {key: value.clone() for key, value in network.state_dict().items()}
    network(torch.rand(2, 3, 4, 4)).square().sum().backward()
    optimizer.step()
    after = network.state_dict()
    changed = {key for key in before if not torch.equal(before[key], after[key])}
    assert {name for name in changed if name.startswith("classifier.")} == {
        "classifier.weight",
        "classifier.bias",
    }
    assert {name for name in changed if not name.startswith("classifier.")} == {
        f"{norm}.{statistic}"
        for norm in ("norm", "own_norm")
        for statistic in ("running_mean", "running_var", "num_batches_tracked")
    }
    kept = {key.partition("::")[0] for key in optimizer_state(optimizer, network)}
    assert kept == {"classifier.weight", "classifier.bias"}
    assert not network.stem.weight.requires_grad


def test_weights_that_are_not_trained_are_left_out() -> None:
    network = OneWeight()
    network.bias.requires_grad_(False)
    optimizer = build_optimizer(OptimizerRecipe(), network, CPU)
    assert [len(group["params"]) for group in optimizer.param_groups] == [1, 0]


@pytest.mark.parametrize("name", ["momentum", "adam", "adamw"])
def test_the_state_comes_back(name: str) -> None:
    recipe = OptimizerRecipe(name=name, weight_decay=0.1)  # type: ignore[arg-type]  # parametrised
    one, other = OneWeight(), OneWeight()
    first = build_optimizer(recipe, one, CPU)
    train(one, first, 3)
    state = {key: value.clone() for key, value in optimizer_state(first, one).items()}
    assert all(key.startswith(("weight::", "bias::")) for key in state)

    second = build_optimizer(recipe, other, CPU)
    other.load_state_dict(one.state_dict())
    restore_optimizer_state(second, other, state)
    train(one, first, 3)
    train(other, second, 3)
    assert torch.equal(one.weight, other.weight)
    assert torch.equal(one.bias, other.bias)


@pytest.mark.parametrize("name", ["momentum", "adamw"])
def test_the_state_comes_back_in_the_layout_of_the_weights(name: str) -> None:
    recipe = OptimizerRecipe(name=name)  # type: ignore[arg-type]  # parametrised
    network: nn.Module = nn.Conv2d(3, 4, 3)
    network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # missing in its annotations
    optimizer = build_optimizer(recipe, network, CPU)
    network(torch.ones(1, 3, 5, 5)).sum().backward()
    optimizer.step()
    state = optimizer_state(optimizer, network)
    plain = {key: value.contiguous() for key, value in state.items()}
    restore_optimizer_state(optimizer, network, plain)
    restored = optimizer_state(optimizer, network)
    weight = network.get_parameter("weight")
    kept = [key for key, value in restored.items() if value.shape == weight.shape]
    assert kept
    for key in kept:
        assert restored[key].stride() == weight.stride() != plain[key].stride()
        assert torch.equal(restored[key], plain[key])


def test_a_state_of_another_network_is_refused() -> None:
    network = OneWeight()
    optimizer = build_optimizer(OptimizerRecipe(), network, CPU)
    state: dict[str, Tensor] = {"kernel::momentum_buffer": torch.zeros(1)}
    with pytest.raises(CheckpointError, match="holds `kernel`"):
        restore_optimizer_state(optimizer, network, state)


def train(network: OneWeight, optimizer: torch.optim.Optimizer, steps: int) -> None:
    for step in range(steps):
        optimizer.zero_grad()
        loss = (network.weight * (step + 1.0) + network.bias).square().sum()
        loss.backward()
        optimizer.step()
