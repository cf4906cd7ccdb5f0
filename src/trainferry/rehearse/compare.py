"""Compares the numbers of an original and a migrated run, step by step.

For every step: the check sum of its batch, the loss, the gradients of chosen variables and their
updated weights. A difference is the largest one of a tensor's numbers, in parts of the largest
number of the original's tensor. Tensors that are small beside the others of their kind, such as the
gradient of a bias before a normalisation, hold rounding errors alone: they count in parts of a
thousandth of the largest number of their kind in that step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from trainferry.rehearse.comparing.arrays import Array
from trainferry.rehearse.comparing.comparison import Apart, Comparison, Step
from trainferry.rehearse.comparing.folder import Recorded, read_recorded
from trainferry.rehearse.comparing.tensors import PREFIXES, compare_tensors
from trainferry.rehearse.probe.record.match import match

TOLERANCE = 1e-5


def compare(original: Path, migrated: Path, tolerance: float = TOLERANCE) -> Comparison:
    """Compare what two ranks recorded; each argument is the folder of one."""
    first, second = read_recorded(original), read_recorded(migrated)
    partners: dict[str, str] = match(first.variables, second.variables)
    follower = first if first.start.get("follows") else second
    steps = sorted(set(first.steps) & set(second.steps))
    missing: dict[str, None] = {}
    compared = tuple(_step(number, first, second, partners, missing) for number in steps)
    back = {theirs: ours for ours, theirs in partners.items()}
    told = {name: _ours(follower, second, back, name) for name in ("copied", "kept")}
    return Comparison(
        tolerance=tolerance,
        steps=compared,
        copied=told["copied"],
        kept=told["kept"],
        partners=tuple((ours, theirs) for ours, theirs in partners.items() if ours != theirs),
        only_migrated=tuple(name for name in second.variables if name not in partners),
        only_original=tuple(name for name in first.variables if name not in back),
        not_compared=tuple(missing),
        free_draws=tuple(follower.free_draws()),
    )


def _ours(
    follower: Recorded, second: Recorded, back: Mapping[str, str], what: str
) -> tuple[str, ...]:
    names = tuple(follower.start.get(what, ()))
    return names if follower is second else tuple(back.get(name, name) for name in names)


def _step(
    number: int,
    first: Recorded,
    second: Recorded,
    partners: Mapping[str, str],
    missing: dict[str, None],
) -> Step:
    theirs, ours = first.values(number), second.values(number)
    losses = _loss(theirs), _loss(ours)
    tensors = list(_batch(number, first, second))
    tensors += _compared_losses(*losses)
    for kind in PREFIXES:
        found = compare_tensors(kind, theirs, ours, partners)
        tensors += found.apart
        missing.update(dict.fromkeys(found.missing))
    return Step(number, losses, tuple(tensors))


def _batch(number: int, first: Recorded, second: Recorded) -> Iterator[Apart]:
    if number in first.batches and number in second.batches:
        same = first.batches[number] == second.batches[number]
        yield Apart("batch", "", 0.0 if same else math.inf)


def _loss(values: Mapping[str, Array]) -> float | None:
    return float(values["loss"].numbers[0]) if "loss" in values else None


def _compared_losses(original: float | None, migrated: float | None) -> Iterator[Apart]:
    if original is None or migrated is None:
        return
    if original == migrated or (math.isnan(original) and math.isnan(migrated)):
        yield Apart("loss", "loss", 0.0)
    elif math.isfinite(original) and math.isfinite(migrated):
        yield Apart(
            "loss", "loss", abs(original - migrated) / max(abs(original), abs(migrated), 1e-30)
        )
    else:
        yield Apart("loss", "loss", math.inf)
