"""Reads what one run recorded: values of steps, how it started, its seeds and batches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from trainferry.rehearse.comparing.arrays import Array, read_arrays

_FACTS = "facts.jsonl"
_START = "start.json"
_PINS = "pins.jsonl"


@dataclass(frozen=True)
class Recorded:
    """The folder of a rank."""

    path: Path
    start: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def batches(self) -> dict[int, int]:
        """Check sums of what each step read."""
        facts = _lines(self.path / _FACTS)
        return {fact["step"]: fact["crc"] for fact in facts if fact.get("kind") == "batch"}

    @cached_property
    def steps(self) -> list[int]:
        """The steps whose values are there; 0 is before the first."""
        found = (self.path / "values").glob("step_*.npz")
        return sorted(int(path.stem.removeprefix("step_")) for path in found)

    @property
    def variables(self) -> dict[str, Any]:
        found: dict[str, Any] = self.start.get("variables", {})
        return found

    def values(self, step: int) -> dict[str, Array]:
        return read_arrays(self.path / "values" / f"step_{step}.npz")

    def free_draws(self) -> list[str]:
        """Random operators that found no partner in the run that this one followed."""
        return [
            entry["key"].rpartition("#")[0]
            for entry in _lines(self.path / _PINS)
            if entry["by"] == "own" and "/Initializer/" not in entry["key"]
        ]


def read_recorded(path: Path) -> Recorded:
    """The folder of a rank; what is not there counts as nothing recorded."""
    start = path / _START
    told = json.loads(start.read_text("utf-8")) if start.exists() else {}
    return Recorded(path, told)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Lines of JSON; the last one may be cut off."""
    if not path.exists():
        return
    for line in path.read_text("utf-8").splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            return
        if isinstance(found, dict):
            yield found
