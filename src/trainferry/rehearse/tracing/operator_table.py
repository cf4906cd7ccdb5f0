"""Which operators of TensorFlow the NPU has a prototype for; see tools/make_operator_table.py."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "operators.csv"


@dataclass(frozen=True)
class Listed:
    """One operator: who runs it, and the dtypes its prototype takes; none said: any."""

    runs_on: str
    dtypes: frozenset[str]

    def takes(self, dtype: str) -> bool:
        return not self.dtypes or dtype in self.dtypes


@functools.cache
def operator_table() -> dict[str, Listed]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {
            row["operator"]: Listed(row["runs_on"], frozenset(row["dtypes"].split()))
            for row in rows
        }
