"""How gradients become updates, and an optimizer's state as named tensors."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from trainferry.devices.device import fused_optimizer_available
from trainferry.errors import CheckpointError
from trainferry.train.recipe_sections import OptimizerRecipe


def build_optimizer(recipe: OptimizerRecipe, network: nn.Module, device: torch.device) -> Optimizer:
    """Weight decay reaches matrices and kernels; biases and norms are left alone."""
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    groups = [
        {
            "params": [weight for weight in weights if weight.ndim >= 2],
            "weight_decay": recipe.weight_decay,
        },
        {"params": [weight for weight in weights if weight.ndim < 2], "weight_decay": 0.0},
    ]
    fused = fused_optimizer_available(device)
    if recipe.name == "momentum":
        return torch.optim.SGD(
            groups,
            lr=recipe.learning_rate,
            momentum=recipe.momentum,
            nesterov=recipe.nesterov,
            fused=fused,
        )
    kind = torch.optim.Adam if recipe.name == "adam" else torch.optim.AdamW
    first, second = recipe.betas
    return kind(
        groups, lr=recipe.learning_rate, betas=(first, second), eps=recipe.epsilon, fused=fused
    )


def set_learning_rate(optimizer: Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def optimizer_state(optimizer: Optimizer, network: nn.Module) -> dict[str, Tensor]:
    """Return the state as `parameter::entry`, so that it does not depend on an order."""
    return {
        f"{name}::{entry}": value
        for name, weight in network.named_parameters()
        for entry, value in sorted(optimizer.state.get(weight, {}).items())
        if isinstance(value, Tensor)
    }


def restore_optimizer_state(
    optimizer: Optimizer, network: nn.Module, state: dict[str, Tensor]
) -> None:
    weights = dict(network.named_parameters())
    for key, saved in state.items():
        name, _, entry = key.partition("::")
        if name not in weights:
            raise CheckpointError(
                f"the optimizer state holds `{name}`, which the network does not have",
                hint="this checkpoint belongs to another network; start a new run folder",
            )
        weight, value = weights[name], saved
        if value.ndim and value.shape == weight.shape:
            # Checkpoints hold plain rows; fused updates want the layout of the weight.
            value = torch.empty_like(weight, dtype=value.dtype).copy_(value)
        # Adam counts its steps on the CPU unless it is fused.
        place = weight.device if value.ndim or _counts_on_device(optimizer) else value.device
        optimizer.state[weight][entry] = value.to(place)


def _counts_on_device(optimizer: Optimizer) -> bool:
    return bool(optimizer.param_groups[0].get("fused"))
