"""Brings the variables of a TensorFlow checkpoint into a network of ours, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trainferry.errors import CheckpointError
from trainferry.train.recipe.networks import NetworkRecipe
from trainferry.train.tf_checkpoint.layout import LSTM_BIAS, LSTM_KERNEL, Layout
from trainferry.train.tf_checkpoint.mapping import TensorMapping
from trainferry.train.tf_checkpoint.names import VariableNames, variable_names
from trainferry.train.tf_checkpoint.names_crnn import SCOPE, Cells
from trainferry.train.tf_checkpoint.read import TensorFlowCheckpoint
from trainferry.train.tf_checkpoint.refuse import check_network

MOMENTUM = "/Momentum"
LARS = "/LARSOptimizer"
AVERAGE = "/ExponentialMovingAverage"

Optimizer: TypeAlias = Literal["momentum", "lars"]

# What a mean has counted when the checkpoint does not tell: as good as never having been zero.
SETTLED = 1e6

_SCALARS = ("global_step", "loss_scale", "good_steps", "bad_steps")
_SLOTS: dict[Optimizer, str] = {"momentum": MOMENTUM, "lars": LARS}
_IGNORED = {
    re.compile(r"/dynamicbase/seq_length$"): "the number of columns, constant",
    re.compile(rf"^{SCOPE[:-1]}_\d+/"): "a second copy of the graph, saved by accident",
    re.compile(r"/(Adam|Adam_1|RMSProp|RMSProp_1|Adadelta|Adadelta_1|Adagrad|LARSOptimizer)$"): (
        "state of an optimizer whose state is not imported"
    ),
    re.compile(r"^(beta1_power|beta2_power)$"): "state of an optimizer that is not imported",
    re.compile(r"(^|/)(local_step|biased)$"): "bookkeeping of an average",
    re.compile(r"^signal_early_stopping/"): "tells workers to stop",
    re.compile(r"^npu_runconfig/"): "counts the loop on the device",
}


@dataclass(frozen=True)
class ImportedWeights:
    """What a checkpoint held, under our names; every tensor of it is in one of the lists.

    `momentum` and `averages` are None where the checkpoint has none, `optimizer` says whose
    momentum it is. `made` are weights of ours that the checkpoint lacks and training asks for.
    """

    cells: Cells | None
    weights: dict[str, NDArray[Any]]
    optimizer: Optimizer | None
    momentum: dict[str, NDArray[Any]] | None
    averages: dict[str, NDArray[Any]] | None
    step: int | None
    step_type: str | None
    loss_scale: float | None
    good_steps: int | None
    bad_steps: int | None
    mapped: list[str]
    ignored: dict[str, str]
    unmatched: list[str]
    missing: list[str]
    made: list[str]

    @property
    def classes(self) -> int:
        """The outputs of the network, with the blank or the background."""
        (weight,) = (self.weights[n] for n in self.weights if n.endswith("classifier.weight"))
        return int(weight.shape[0])


def import_network(checkpoint: TensorFlowCheckpoint, network: NetworkRecipe) -> ImportedWeights:
    """Read every variable of a network and its training state.

    Raises CheckpointError when the checkpoint is of another network, or of another size; a
    variable that is only missing is listed in `missing`.
    """
    names = checkpoint.names()
    known = variable_names(network, names)
    check_network(checkpoint, network, known)
    every = (*known.needed, *known.for_training)
    weights = read_weights(checkpoint, every)
    made = _settle_means(weights, known.for_training)
    optimizer, momentum = _read_momentum(checkpoint, known.needed)
    averages = read_weights(checkpoint, known.needed, AVERAGE)
    scalars = _read_scalars(checkpoint, known)

    endings = ("", AVERAGE, _SLOTS[optimizer or "momentum"])
    wanted = {mapping.tensorflow + ending for mapping in every for ending in endings}
    wanted |= {name for name, _ in scalars.values()}
    left = [name for name in names if name not in wanted]
    ignored = {name: reason for name in left if (reason := _reason_to_ignore(name)) is not None}
    step_name, step = scalars.get("global_step", ("", None))
    return ImportedWeights(
        cells=known.cells,
        weights=weights,
        optimizer=optimizer,
        momentum=momentum,
        averages=averages or None,
        step=step,
        step_type=checkpoint.dtype(step_name) if step_name else None,
        loss_scale=scalars.get("loss_scale", ("", None))[1],
        good_steps=scalars.get("good_steps", ("", None))[1],
        bad_steps=scalars.get("bad_steps", ("", None))[1],
        mapped=[name for name in names if name in wanted],
        ignored=ignored,
        unmatched=[name for name in left if name not in ignored],
        missing=[one.tensorflow for one in known.needed if one.tensorflow not in checkpoint],
        made=made,
    )


def read_weights(
    checkpoint: TensorFlowCheckpoint, mappings: Iterable[TensorMapping], ending: str = ""
) -> dict[str, NDArray[Any]]:
    """Read those variables that the checkpoint has, in our layout and under our names."""
    weights: dict[str, NDArray[Any]] = {}
    for mapping in mappings:
        name = mapping.tensorflow + ending
        if name not in checkpoint:
            continue
        shape, layout = checkpoint.shape(name), mapping.layout
        if len(shape) != layout.dimensions or not _fits_gates(layout, shape):
            raise CheckpointError(
                f"`{name}` in {checkpoint.prefix} has the shape {shape}, "
                f"which `{mapping.ours[0]}` cannot have",
                hint="this checkpoint is of another network, or of a changed one",
            )
        if not re.match(r"b?float", checkpoint.dtype(name)):
            raise _wrong_type(checkpoint, name, "weights")
        values = checkpoint.read(name).astype(np.float32)
        weights.update(zip(mapping.ours, layout.to_ours(values), strict=True))
    return weights


def to_tensorflow(
    weights: Mapping[str, NDArray[Any]], mappings: Iterable[TensorMapping], *, ending: str = ""
) -> dict[str, NDArray[Any]]:
    """Return our weights, momenta or averages under TensorFlow's names and in its layout.

    Weights of which a variable needs two are left out unless both are there.
    """
    return {
        mapping.tensorflow + ending: mapping.layout.to_tensorflow(
            *(weights[name] for name in mapping.ours)
        )
        for mapping in mappings
        if all(name in weights for name in mapping.ours)
    }


def _read_momentum(
    checkpoint: TensorFlowCheckpoint, mappings: Iterable[TensorMapping]
) -> tuple[Optimizer | None, dict[str, NDArray[Any]] | None]:
    """What an optimizer kept of its updates, and which optimizer it was."""
    trained = [mapping for mapping in mappings if mapping.trained]
    for optimizer, ending in _SLOTS.items():
        if momentum := read_weights(checkpoint, trained, ending):
            return optimizer, momentum
    return None, None


def _settle_means(weights: dict[str, NDArray[Any]], mappings: Iterable[TensorMapping]) -> list[str]:
    """Where the state of a mean is not in the checkpoint, let it go on as a plain average."""
    made = []
    for mapping in mappings:
        layer, _, entry = mapping.ours[0].rpartition(".")
        mean = weights.get(f"{layer}.running_mean")
        if mapping.ours[0] not in weights and mean is not None:
            settled = mean.copy() if entry == "biased" else np.array(SETTLED, np.float32)
            weights[mapping.ours[0]] = settled
            made.append(mapping.ours[0])
    return made


def _read_scalars(
    checkpoint: TensorFlowCheckpoint, known: VariableNames
) -> dict[str, tuple[str, Any]]:
    """The counters of training with their names in the file, in the network's scope or outside."""
    found: dict[str, tuple[str, Any]] = {}
    for short in _SCALARS:
        for name in (known.scope + short, short):
            if name in checkpoint and short not in found:
                found[short] = name, _read_scalar(checkpoint, name, short).item()
    return found


def _read_scalar(checkpoint: TensorFlowCheckpoint, name: str, short: str) -> NDArray[Any]:
    """Return one number, 0 or more; all but the loss scale count steps and are whole."""
    kind = "float" if short == "loss_scale" else "int"
    if checkpoint.dtype(name).startswith(kind):
        values = checkpoint.read(name)
        if values.size == 1 and np.isfinite(values).all() and values.item() >= 0:
            return values
    raise _wrong_type(checkpoint, name, "one number of its kind, 0 or more")


def _wrong_type(checkpoint: TensorFlowCheckpoint, name: str, wanted: str) -> CheckpointError:
    return CheckpointError(
        f"`{name}` in {checkpoint.prefix} is {checkpoint.dtype(name)} of shape "
        f"{checkpoint.shape(name)} and cannot be {wanted}",
        hint="this checkpoint is of another network, or of a changed one",
    )


def _fits_gates(layout: Layout, shape: tuple[int, ...]) -> bool:
    """Whether a cell's variable can be cut into four gates, and its rows into [x; h]."""
    if layout is LSTM_KERNEL:
        return shape[1] > 0 and shape[1] % 4 == 0 and shape[0] > shape[1] // 4
    return layout is not LSTM_BIAS or shape[0] % 4 == 0


def _reason_to_ignore(name: str) -> str | None:
    return next((reason for pattern, reason in _IGNORED.items() if pattern.search(name)), None)
