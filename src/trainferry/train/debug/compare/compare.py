"""The whole comparison of two runs, or of two dumps, and its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from trainferry.devices.precision import Precision, check_precision
from trainferry.errors import UsageError
from trainferry.train.build import open_run
from trainferry.train.debug.compare.curves import TOLERANCE as LOSS_TOLERANCE
from trainferry.train.debug.compare.curves import Curves, read_curves
from trainferry.train.debug.compare.difference import Difference
from trainferry.train.debug.compare.dumps import compare_dumps, dump_facts
from trainferry.train.debug.compare.layers import TOLERANCES, Side, compare_layers
from trainferry.train.debug.compare.runs import (
    check_comparable,
    choose_checkpoints,
    run_differences,
    run_folder,
)
from trainferry.train.debug.dump_files import is_dump


@dataclass(frozen=True)
class How:
    """How both sides compute, what they are given, and what counts as the same."""

    devices: tuple[torch.device, torch.device]
    precisions: tuple[Precision, Precision] = ("fp32", "fp32")
    data: Path | None = None
    split: str = "val"
    checkpoints: Sequence[str] = ("last",)
    tolerance: float | None = None
    loss_tolerance: float = LOSS_TOLERANCE


@dataclass(frozen=True)
class LayerComparison:
    """The layers of one pair of checkpoints, or of two dumps, in the order of time."""

    one: str
    other: str
    tolerance: float
    differences: list[Difference]

    @property
    def first_apart(self) -> Difference | None:
        return next((each for each in self.differences if each.parts(self.tolerance)), None)

    def to_json(self) -> dict[str, Any]:
        first = self.first_apart
        return {
            "one": self.one,
            "other": self.other,
            "tolerance": self.tolerance,
            "first_apart": None if first is None else {"layer": first.layer, "name": first.name},
            "layers": [each.to_json(self.tolerance) for each in self.differences],
        }


@dataclass(frozen=True)
class Comparison:
    """All that was found; `curves` is None for dumps."""

    made_differently: dict[str, tuple[Any, Any]]
    layers: list[LayerComparison] = field(default_factory=list)
    curves: Curves | None = None

    @property
    def parts(self) -> bool:
        apart = self.curves is not None and self.curves.first_apart is not None
        return apart or any(each.first_apart is not None for each in self.layers)

    def to_json(self) -> dict[str, Any]:
        return {
            "parts": self.parts,
            "made_differently": {k: list(pair) for k, pair in self.made_differently.items()},
            "layers": [each.to_json() for each in self.layers],
            "losses": None if self.curves is None else self.curves.to_json(),
        }


def compare(one: Path, other: Path, how: How) -> Comparison:
    """Compare two runs, two checkpoints, or two dumps."""
    dumps = [is_dump(path) for path in (one, other)]
    if all(dumps):
        tolerance = TOLERANCES["fp32"] if how.tolerance is None else how.tolerance
        found = LayerComparison(str(one), str(other), tolerance, compare_dumps(one, other))
        return Comparison(dump_facts(one, other), [found])
    if any(dumps):
        raise UsageError(
            f"`{one if dumps[0] else other}` is a dump, and the other is none",
            hint="compare two dumps, or two runs",
        )
    check_comparable(one, other)
    pairs = [pair for asked in how.checkpoints for pair in choose_checkpoints(one, other, asked)]
    return Comparison(
        run_differences(one, other),
        [_compare_checkpoints(pair, how) for pair in dict.fromkeys(pairs)],
        read_curves(run_folder(one), run_folder(other), how.loss_tolerance),
    )


def usual_tolerance(precisions: tuple[Precision, Precision]) -> float:
    """Return the tolerance of the coarser number format."""
    return max(TOLERANCES[each] for each in precisions)


def _compare_checkpoints(pair: tuple[Path, Path], how: How) -> LayerComparison:
    sides = []
    for path, device, precision in zip(pair, how.devices, how.precisions, strict=True):
        check_precision(device, precision)
        sides.append(Side(open_run(path, device=device), precision))
    tolerance = usual_tolerance(how.precisions) if how.tolerance is None else how.tolerance
    differences = compare_layers(sides[0], sides[1], how.data, how.split)
    return LayerComparison(str(pair[0]), str(pair[1]), tolerance, differences)
