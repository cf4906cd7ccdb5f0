"""Refuses a checkpoint of another network, and says of which it is."""

from __future__ import annotations

import difflib

from trainferry.errors import CheckpointError
from trainferry.train.recipe.networks import NetworkRecipe
from trainferry.train.tf_checkpoint.guess import (
    changes_between,
    describe_network,
    guess_network,
    nearest_recipe,
    usual_network,
)
from trainferry.train.tf_checkpoint.names import VariableNames
from trainferry.train.tf_checkpoint.read import TensorFlowCheckpoint

# Scopes of what is not imported as the recipe says, and what to do with it.
_OTHERS = {
    "shadow/": "this is the CRNN of 2017, another architecture, which cannot be imported",
    "fp32_vars/": (
        "ResNets of the zoo's ResNet50_ID0058 are imported with --recipe resnet50_zoo, unless "
        "their `arch_type` is another than `original`"
    ),
    "InceptionV3/": (
        "an Inception-v3 alone is no run, but one can start from it: "
        "`trainferry train attention_ocr --init-from CKPT`"
    ),
}


def check_network(
    checkpoint: TensorFlowCheckpoint, network: NetworkRecipe, known: VariableNames
) -> None:
    """Raise CheckpointError unless the variables are those of the recipe's network and size."""
    found = guess_network(checkpoint)
    if found is not None and (recipe := nearest_recipe(found)) != nearest_recipe(network):
        sets = _sets(usual_network(recipe), found)
        raise _looks_like(checkpoint, network, found, f"use --recipe {' '.join([recipe, *sets])}")
    if found is not None:
        if sets := _sets(network, found):
            raise _looks_like(checkpoint, network, found, f"pass {' '.join(sets)}")
        return
    missing = [one.tensorflow for one in known.needed if one.tensorflow not in checkpoint]
    if len(missing) > len(known.needed) // 2:
        raise _unknown_network(checkpoint, network, missing)


def _sets(network: NetworkRecipe, found: NetworkRecipe) -> list[str]:
    changes = changes_between(network, found)
    return [f"--set network.{name}={value}" for name, value in changes.items()]


def _looks_like(
    checkpoint: TensorFlowCheckpoint, network: NetworkRecipe, found: NetworkRecipe, hint: str
) -> CheckpointError:
    return CheckpointError(
        f"{checkpoint.prefix} is not a checkpoint of {describe_network(network)}: "
        f"it looks like {describe_network(found)}",
        hint=hint,
    )


def _unknown_network(
    checkpoint: TensorFlowCheckpoint, network: NetworkRecipe, missing: list[str]
) -> CheckpointError:
    names = checkpoint.names()
    plain = [name for name in names if not name.endswith(("/Momentum", "Average"))]
    # A few kinds of variables are enough to show; comparing all would take seconds.
    near = {
        name: None
        for wanted in missing[:: len(missing) // 8 + 1]
        for name in difflib.get_close_matches(wanted, plain, n=1, cutoff=0.4)
    }
    shown = ", ".join(f"`{name}`" for name in list(near or plain)[:3])
    hints = [hint for scope, hint in _OTHERS.items() if any(n.startswith(scope) for n in names)]
    return CheckpointError(
        f"{checkpoint.prefix} is not a checkpoint of {describe_network(network)}: of its "
        f"variables {len(missing)} are missing, the first is `{missing[0]}`; "
        f"nearest in the file: {shown or 'none'}",
        hint=next(iter(hints), "see what is in it with `trainferry import-checkpoint CKPT --list`"),
    )
