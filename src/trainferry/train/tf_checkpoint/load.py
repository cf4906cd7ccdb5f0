"""Brings the weights of a TensorFlow CRNN into ours, and back."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainferry.errors import CheckpointError
from trainferry.train.tf_checkpoint.bundle import TensorFlowCheckpoint
from trainferry.train.tf_checkpoint.layout import LSTM_BIAS, LSTM_KERNEL, Layout
from trainferry.train.tf_checkpoint.mapping import TensorMapping
from trainferry.train.tf_checkpoint.names_crnn import SCOPE, Cells, crnn_mappings, find_cells

MOMENTUM = "/Momentum"
AVERAGE = "/ExponentialMovingAverage"

_SCALARS = ("global_step", "loss_scale", "good_steps", "bad_steps")
_IGNORED = {
    re.compile(r"/dynamicbase/seq_length$"): "the number of columns, constant",
    re.compile(rf"^{SCOPE[:-1]}_\d+/"): "a second copy of the graph, saved by accident",
    re.compile(r"/(Adam|Adam_1|RMSProp|RMSProp_1|Adadelta|Adadelta_1|Adagrad)$"): (
        "state of an optimizer whose state is not imported"
    ),
    re.compile(r"^(beta1_power|beta2_power)$"): "state of an optimizer that is not imported",
    re.compile(r"(^|/)(local_step|biased)$"): "bookkeeping of an average",
}


@dataclass(frozen=True)
class ImportedWeights:
    """What a checkpoint held, under our names; every tensor of it is in one of the lists.

    `momentum` and `averages` are None where the checkpoint has none.
    """

    cells: Cells
    weights: dict[str, NDArray[Any]]
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

    @property
    def classes(self) -> int:
        return int(self.weights["classifier.weight"].shape[0])


def import_crnn(checkpoint: TensorFlowCheckpoint) -> ImportedWeights:
    """Read every variable of a CRNN and its training state.

    Raises CheckpointError when the checkpoint is of another network; a variable that is
    only missing is listed in `missing`.
    """
    names = checkpoint.names()
    cells = find_cells(names)
    mappings = crnn_mappings(cells)
    missing = [mapping.tensorflow for mapping in mappings if mapping.tensorflow not in checkpoint]
    if len(missing) > len(mappings) // 2:
        raise _another_network(checkpoint, missing)

    weights = _read_all(checkpoint, mappings, "")
    momentum = _read_all(checkpoint, mappings, MOMENTUM)
    averages = _read_all(checkpoint, mappings, AVERAGE)
    scalars: dict[str, Any] = {
        name: _read_scalar(checkpoint, name).item() for name in _SCALARS if name in checkpoint
    }
    endings = ("", MOMENTUM, AVERAGE)
    wanted = {mapping.tensorflow + ending for mapping in mappings for ending in endings}
    mapped = [name for name in names if name in wanted or name in scalars]
    left = [name for name in names if name not in wanted and name not in scalars]
    ignored = {name: reason for name in left if (reason := _reason_to_ignore(name)) is not None}
    return ImportedWeights(
        cells=cells,
        weights=weights,
        momentum=momentum or None,
        averages=averages or None,
        step=scalars.get("global_step"),
        step_type=checkpoint.dtype("global_step") if "global_step" in scalars else None,
        loss_scale=scalars.get("loss_scale"),
        good_steps=scalars.get("good_steps"),
        bad_steps=scalars.get("bad_steps"),
        mapped=mapped,
        ignored=ignored,
        unmatched=[name for name in left if name not in ignored],
        missing=missing,
    )


def crnn_to_tensorflow(
    weights: Mapping[str, NDArray[Any]], cells: Cells, *, ending: str = ""
) -> dict[str, NDArray[Any]]:
    """Return our weights, momenta or averages under TensorFlow's names and in its layout.

    Weights of which a variable needs two are left out unless both are there.
    """
    return {
        mapping.tensorflow + ending: mapping.layout.to_tensorflow(
            *(weights[name] for name in mapping.ours)
        )
        for mapping in crnn_mappings(cells)
        if all(name in weights for name in mapping.ours)
    }


def _read_all(
    checkpoint: TensorFlowCheckpoint, mappings: tuple[TensorMapping, ...], ending: str
) -> dict[str, NDArray[Any]]:
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
                hint="this checkpoint is of another network, or of a changed CRNN",
            )
        if not re.match(r"b?float", checkpoint.dtype(name)):
            raise _wrong_type(checkpoint, name, "weights")
        values = checkpoint.read(name).astype(np.float32)
        weights.update(zip(mapping.ours, layout.to_ours(values), strict=True))
    return weights


def _read_scalar(checkpoint: TensorFlowCheckpoint, name: str) -> NDArray[Any]:
    """Return one number, 0 or more; all but the loss scale count steps and are whole."""
    kind = "float" if name == "loss_scale" else "int"
    if checkpoint.dtype(name).startswith(kind):
        values = checkpoint.read(name)
        if values.size == 1 and np.isfinite(values).all() and values.item() >= 0:
            return values
    raise _wrong_type(checkpoint, name, "one number of its kind, 0 or more")


def _wrong_type(checkpoint: TensorFlowCheckpoint, name: str, wanted: str) -> CheckpointError:
    return CheckpointError(
        f"`{name}` in {checkpoint.prefix} is {checkpoint.dtype(name)} of shape "
        f"{checkpoint.shape(name)} and cannot be {wanted}",
        hint="this checkpoint is of another network, or of a changed CRNN",
    )


def _fits_gates(layout: Layout, shape: tuple[int, ...]) -> bool:
    """Whether a cell's variable can be cut into four gates, and its rows into [x; h]."""
    if layout is LSTM_KERNEL:
        return shape[1] > 0 and shape[1] % 4 == 0 and shape[0] > shape[1] // 4
    return layout is not LSTM_BIAS or shape[0] % 4 == 0


def _reason_to_ignore(name: str) -> str | None:
    return next((reason for pattern, reason in _IGNORED.items() if pattern.search(name)), None)


def _another_network(checkpoint: TensorFlowCheckpoint, missing: list[str]) -> CheckpointError:
    names = checkpoint.names()
    plain = [name for name in names if not name.endswith((MOMENTUM, AVERAGE))]
    # A few kinds of variables are enough to show; comparing all would take seconds.
    near = {
        name: None
        for wanted in missing[::6]
        for name in difflib.get_close_matches(wanted, plain, n=1, cutoff=0.4)
    }
    shown = ", ".join(f"`{name}`" for name in list(near or plain)[:3])
    old = any(name.startswith("shadow/") for name in names)
    return CheckpointError(
        f"{checkpoint.prefix} is not a checkpoint of the CRNN: of its variables {len(missing)} "
        f"are missing, the first is `{missing[0]}`; nearest in the file: {shown or 'none'}",
        hint="this is the CRNN of 2017, another architecture, which cannot be imported"
        if old
        else "see what is in it with `trainferry import-checkpoint CKPT --list`",
    )
