"""The report of an overflow: JSON for programs, lines for people, a sentence for the log."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainferry.train.data.whole_file import write_whole
from trainferry.train.debug.operators import LOSS, OperatorFinding
from trainferry.train.debug.sights import Sight

FORMAT = 1


@dataclass(frozen=True)
class Value:
    """The largest absolute value of one thing a step computed."""

    sight: Sight
    largest: float


@dataclass(frozen=True)
class Overflow:
    """What first left the range in a step. `only_scale` is None without a loss scale."""

    step: int
    batch: int
    format: str
    range: float
    loss_scale: float
    sight: Sight
    largest: float
    operator: OperatorFinding | None
    only_scale: bool | None
    values: tuple[Value, ...]  # in the order of time

    def sentence(self) -> str:
        """Say it in one line."""
        text = f"overflow at step {self.step}: {self.sight} {self._what()}"
        if self.operator is not None:
            text += f"; it comes from {self._operator(self.operator)}"
        if self.only_scale:
            text += (
                f". It is finite without the loss scale of {self.loss_scale:g}: the scale finds "
                "its place, nothing else is wrong"
            )
        return text

    def advice(self) -> str:
        """Say what to try."""
        if self.sight.direction == "input":
            return "the data or its variation holds values that are not finite: look at the data"
        if self.operator is not None and any(
            each.non_finite_share for each in self.operator.inputs
        ):
            return "this operator was given values that are not finite: its weights, or the data"
        if self.format == "fp16":
            return "try precision.name=bf16 or fp32, loss scaling, or a lower learning rate"
        return "look at the values of this layer in the report; try a lower learning rate"

    def lines(self) -> list[str]:
        """Say all of it."""
        lines = [
            self.sentence(),
            "",
            f"step         {self.step} (batch number {self.batch})",
            f"range        {self.format}, up to {self.range:g}",
            f"loss scale   {self.loss_scale:g}",
            f"layer        {self.sight}",
            f"largest      {self.largest:g}",
        ]
        if self.operator is not None:
            found = self.operator
            lines.append(f"operator     {found.operator} in {found.layer}, {found.direction}")
            lines += [f"  was given  {each.line()}" for each in found.inputs]
            lines += [f"  gave       {each.line()}" for each in found.outputs]
        lines += ["", "largest absolute values of the step, in the order of time:"]
        return lines + [f"  {each.largest:<12.4g} {each.sight}" for each in self.values]

    def to_json(self) -> dict[str, Any]:
        found = self.operator
        return {
            "format": FORMAT,
            "step": self.step,
            "batch": self.batch,
            "number_format": self.format,
            "range": _number(self.range),
            "loss_scale": self.loss_scale,
            "only_scale": self.only_scale,
            "sentence": self.sentence(),
            **_sight(self.sight),
            "largest": _number(self.largest),
            "operator": None
            if found is None
            else {
                "name": found.operator,
                "direction": found.direction,
                "layer": found.layer.name,
                "kind": found.layer.kind,
                "node": found.node,
                "inputs": [each.to_json() for each in found.inputs],
                "outputs": [each.to_json() for each in found.outputs],
            },
            "values": [{**_sight(v.sight), "largest": _number(v.largest)} for v in self.values],
        }

    def _what(self) -> str:
        if not math.isfinite(self.largest):
            return "is not finite"
        return f"reaches {self.largest:.4g}, beyond {self.format}'s {self.range:.4g}"

    def _operator(self, found: OperatorFinding) -> str:
        step = f" ({found.node})" if found.node else ""
        place = "the loss" if found.layer == LOSS else str(found.layer)
        return f"{found.operator}{step}, {found.direction} in {place}"


def write_report(folder: Path, overflow: Overflow, of_rank: str = "") -> Path:
    """Write both files below the run's folder; return that for people. None is overwritten."""
    stem = f"step-{overflow.step:08d}-batch-{overflow.batch:08d}{of_rank}"
    path = _free(folder / "overflows" / f"{stem}.txt")
    text = json.dumps(overflow.to_json(), indent=1, allow_nan=False)
    write_whole(path.with_suffix(".json"), text.encode())
    write_whole(path, "\n".join([*overflow.lines(), ""]).encode())
    return path


def _free(path: Path) -> Path:
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_stem(f"{path.stem}-{number}")
    return free


def _sight(sight: Sight) -> dict[str, Any]:
    return {
        "direction": sight.direction,
        "layer": sight.layer.name,
        "kind": sight.layer.kind,
        "weight": sight.weight,
    }


def _number(value: float) -> float | str:
    """Return what JSON can hold: it knows no infinity."""
    return value if math.isfinite(value) else str(value)
