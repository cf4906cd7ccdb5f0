"""How gradients become updates, and an optimizer's state as named tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from trainferry.devices.device import fused_optimizer_available
from trainferry.errors import CheckpointError
from trainferry.train.kept import Kept
from trainferry.train.lars import LARS
from trainferry.train.recipe.sections import OptimizerRecipe
from trainferry.train.updates import move_by_adam, move_by_momentum

HEAD = "classifier"

_ADAMS = (torch.optim.Adam, torch.optim.AdamW)
_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.SyncBatchNorm)


def build_optimizer(recipe: OptimizerRecipe, network: nn.Module, device: torch.device) -> Optimizer:
    """Make the optimizer, after freezing what the recipe does not train.

    Weight decay reaches what `decayed` says, with LARS kernels alone: its norms and biases
    have neither decay nor a rate of their own.
    """
    freeze_untrained(recipe, network)
    decayed, others = _in_groups(recipe, network)
    groups = [
        {"params": decayed, "weight_decay": recipe.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    if recipe.name == "lars":
        groups[1]["adapted"] = False
        return LARS(
            groups,
            lr=recipe.learning_rate,
            momentum=recipe.momentum,
            nesterov=recipe.nesterov,
            trust=recipe.trust,
        )
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


def freeze_untrained(recipe: OptimizerRecipe, network: nn.Module) -> None:
    """With `trained` "head", leave gradients to the classifier alone.

    The statistics of norms go on moving, as those of the originals do when they fine-tune.
    """
    if recipe.trained == "head":
        for name, weight in network.named_parameters():
            weight.requires_grad_(weight.requires_grad and is_head(name))


def is_head(name: str) -> bool:
    """Tell whether a weight is of the last layer, which knows the classes."""
    return HEAD in name.split(".")


def multiply_each(tensors: Sequence[Tensor], factors: Tensor) -> None:
    """Multiply each tensor by its factor."""
    torch._foreach_mul_(list(tensors), factors.unbind())


def clip_gradients(
    network: nn.Module,
    recipe: OptimizerRecipe,
    multiply: Callable[[Sequence[Tensor], Tensor], None] = multiply_each,
) -> None:
    """Shorten gradients to the norm of the recipe: all together, or each by itself."""
    if recipe.clipped == "all":
        nn.utils.clip_grad_norm_(network.parameters(), recipe.clip_norm)
        return
    gradients = [weight.grad for weight in network.parameters() if weight.grad is not None]
    norms = torch.stack(torch._foreach_norm(gradients))
    multiply(gradients, torch.clamp(recipe.clip_norm / (norms + 1e-12), max=1.0))


def set_learning_rate(optimizer: Optimizer, rate: float | Tensor) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


@torch.no_grad()
def start_state(optimizer: Optimizer) -> None:
    """Make the state that the first update would make, so that all updates are alike."""
    for group in optimizer.param_groups:
        for weight in group["params"]:
            state = optimizer.state[weight]
            if state:
                continue
            if isinstance(optimizer, _ADAMS):
                place = weight.device if is_fused(optimizer) else None
                state["step"] = torch.zeros((), device=place)
                state["exp_avg"] = torch.zeros_like(weight)
                state["exp_avg_sq"] = torch.zeros_like(weight)
            elif group["momentum"]:
                state["momentum_buffer"] = torch.zeros_like(weight)


def let_record(optimizer: Optimizer) -> None:
    """Let an optimizer, which has its state, count its steps on the device, if it counts any."""
    for group in optimizer.param_groups:
        if is_fused(optimizer) and "capturable" in group:
            group["capturable"] = True
        for weight in group["params"]:
            if "step" in (state := optimizer.state[weight]):
                state["step"] = state["step"].to(weight.device)


def advance(optimizer: Optimizer) -> None:
    """Make the next update; where the rate lies on a device, the host need not know it."""
    rate = optimizer.param_groups[0]["lr"]
    is_there = isinstance(rate, Tensor) and rate.device.type != "cpu"
    if is_there and not is_fused(optimizer) and isinstance(optimizer, torch.optim.SGD):
        move_by_momentum(optimizer)
    elif is_there and not is_fused(optimizer) and isinstance(optimizer, _ADAMS):
        move_by_adam(optimizer)
    else:
        optimizer.step()


def step_unless(optimizer: Optimizer, overflow: Tensor) -> None:
    """Update, but change nothing where `overflow`, known to the device alone, is 1."""
    if is_fused(optimizer):
        optimizer.found_inf = overflow  # type: ignore[attr-defined]  # torch's own way to say so
        optimizer.step()
        del optimizer.found_inf  # type: ignore[attr-defined]
        return
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    states = [value for weight in weights for value in optimizer.state[weight].values()]
    kept = Kept([*weights, *(value for value in states if isinstance(value, Tensor))])
    advance(optimizer)
    kept.restore_if(overflow > 0)


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
        place = weight.device if value.ndim or is_fused(optimizer) else value.device
        optimizer.state[weight][entry] = value.to(place)


def is_fused(optimizer: Optimizer) -> bool:
    """Whether an update is one program for all weights, which also counts on the device."""
    return bool(optimizer.param_groups[0].get("fused"))


def _in_groups(recipe: OptimizerRecipe, network: nn.Module) -> tuple[list[Tensor], list[Tensor]]:
    """The trained weights that decay, and those that do not."""
    of_norms = {
        weight
        for module in network.modules()
        if isinstance(module, _NORMS)
        for weight in module.parameters(recurse=False)
    }
    decayed: list[Tensor] = []
    others: list[Tensor] = []
    for name, weight in network.named_parameters():
        if not weight.requires_grad:
            continue
        if recipe.decayed == "kernels" or recipe.name == "lars":
            decays = weight.ndim >= 2
        elif recipe.decayed == "convolutions_and_head":
            decays = weight.ndim == 4 or is_head(name)
        else:
            decays = recipe.decayed == "all" or weight not in of_norms
        (decayed if decays else others).append(weight)
    return decayed, others
