"""The train steps that a rank has written down, read line by line: also from a run cut short."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

FACTS = "facts*.jsonl"  # one for each process of a script that uses TensorFlow


@dataclass(frozen=True)
class Steps:
    """What the steps of one rank lost, and how long they took."""

    losses: tuple[float | None, ...]
    seconds: tuple[float, ...]

    @property
    def usual_seconds(self) -> float | None:
        """The median without the first step, which builds the graph."""
        return median(self.seconds[1:]) if len(self.seconds) > 1 else None


def read_steps(home: Path) -> Steps:
    """The steps in the folder of a rank, of the process that made most; none if there are none."""
    found = [list(step_facts(path.read_bytes())) for path in sorted(home.glob(FACTS))]
    steps = max(found, key=len, default=[])
    losses = tuple(_number(step.get("loss")) for step in steps)
    return Steps(losses, tuple(_number(step.get("seconds")) or 0.0 for step in steps))


def step_facts(text: bytes) -> Iterator[dict[str, Any]]:
    """The facts of kind `step`; a last line that is cut off is none."""
    for line in text.split(b"\n"):
        if b'"step"' not in line:
            continue
        try:
            fact = json.loads(line)
        except ValueError:
            continue  # `facts.py` tells of a file that cannot be read
        if isinstance(fact, dict) and fact.get("kind") == "step":
            yield fact


def _number(value: object) -> float | None:
    if isinstance(value, str):  # NaN and infinity
        try:
            return float(value)
        except ValueError:
            return None
    return float(value) if isinstance(value, int | float) else None
