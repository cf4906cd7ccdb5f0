"""Compares the tensors of one kind and step: gradients with gradients, weights with weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainferry.rehearse.comparing.arrays import Array, Difference, difference
from trainferry.rehearse.comparing.comparison import Apart

PREFIXES = {"gradient": "gradients/", "weight": "weights/"}
_SMALL = 1e-3  # of the largest number of a kind: below are rounding errors

Values = Mapping[str, Array]


@dataclass(frozen=True)
class Tensors:
    """Those of both runs, and the variables whose tensor only one run has, or in another form."""

    apart: tuple[Apart, ...]
    missing: tuple[str, ...]


def compare_tensors(
    kind: str, original: Values, migrated: Values, partners: Mapping[str, str]
) -> Tensors:
    """Compare all variables that have a tensor of this kind; `partners` names the original's."""
    prefix = PREFIXES[kind]
    found: dict[str, Difference] = {}
    missing = []
    for name, partner in partners.items():
        theirs, ours = original.get(prefix + partner), migrated.get(prefix + name)
        if theirs is None and ours is None:
            continue
        same_rows = _rows(kind, original, partner) == _rows(kind, migrated, name)
        if same_rows and theirs and ours and theirs.shape == ours.shape:
            found[name] = difference(theirs, ours)
        else:
            missing.append(name)
    floor = _SMALL * max((one.scale for one in found.values()), default=0.0)
    apart = []
    for name, one in found.items():
        whole = _sums(original.get("sums/" + prefix + partners[name]), migrated, prefix + name)
        apart.append(Apart(kind, name, max(one.relative(floor), whole), partners[name]))
    return Tensors(tuple(apart), tuple(missing))


def _rows(kind: str, values: Values, name: str) -> bytes | None:
    """Which rows a gradient has that does not have all."""
    rows = values.get("rows/" + name) if kind == "gradient" else None
    return None if rows is None else rows.data


def _sums(theirs: Array | None, migrated: Values, key: str) -> float:
    """How far the sums of tensors are apart of which only a sample is there."""
    ours = migrated.get("sums/" + key)
    if theirs is None or ours is None:
        return 0.0
    total = theirs.numbers[1]  # of the numbers without their signs
    return float(max(abs(a - b) for a, b in zip(theirs.numbers, ours.numbers, strict=True))) / (
        total or 1.0
    )
