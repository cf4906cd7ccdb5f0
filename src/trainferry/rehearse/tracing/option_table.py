"""The keys of `parameter_map` that the adapter reads: types, values, and what a wrong one does."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainferry.rehearse.finding import Severity

# Written by tools/make_stand_in_options.py; the stand-ins in the user's process read it too.
_TABLE = Path(__file__).resolve().parents[1] / "stand_in/trainferry_stand_in/options.json"
FIELDS = {"bool": "b", "int": "i", "str": "s"}
_EMPTY: dict[str, object] = {"bool": False, "int": 0, "str": ""}
# The adapter looks at the field of these two, and stops at any other.
_LOOKS_AT_FIELD = ("jit_compile", "shape_generalization_mode")


@dataclass(frozen=True)
class Option:
    """One key and its facts."""

    name: str
    type: str
    row: dict[str, Any]

    @property
    def field(self) -> str:
        return FIELDS[self.type]

    @property
    def is_checked(self) -> bool:
        """Whether the adapter stops at a value that is not allowed."""
        return bool(self.row.get("checked", True))

    def has_type(self, value: object) -> bool:
        kinds = {"bool": bool, "int": int, "str": str}
        if self.type == "int" and isinstance(value, bool):
            return False
        return isinstance(value, kinds[self.type])

    def allows(self, value: object) -> bool:
        if "choices" in self.row:
            return value in self.row["choices"]
        if "pattern" in self.row:
            return isinstance(value, str) and bool(re.fullmatch(self.row["pattern"], value))
        if isinstance(value, bool) or not isinstance(value, int):
            return True
        return bool(self.row.get("least", value) <= value <= self.row.get("most", value))

    @property
    def allowed(self) -> str:
        """What may be written, in words."""
        if "choices" in self.row:
            return "one of " + ", ".join(f"`{choice}`" for choice in self.row["choices"])
        if "pattern" in self.row:
            return f"what matches `{self.row['pattern']}`"
        return f"{self.row.get('least', 'any number')} to {self.row.get('most', 'any number')}"

    @property
    def when_empty(self) -> Severity:
        """What comes of a value in another field: the adapter reads False, 0 or no text."""
        empty = _EMPTY[self.type]
        refused = self.is_checked and not self.allows(empty)
        refused = refused or self.name in _LOOKS_AT_FIELD
        return Severity.REFUSED if refused else Severity.RISK


@functools.cache
def option_table() -> dict[str, Option]:
    rows = json.loads(_TABLE.read_text("utf-8"))["parameters"]
    return {name: Option(name, row["type"], row) for name, row in rows.items()}
