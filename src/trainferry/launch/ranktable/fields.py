"""One object of a rank table's JSON, read field by field; what is wrong is noted, all of it."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from trainferry.launch.ranktable.finding import Finding


@dataclass
class Notes:
    """What was found while reading; `is_unreadable` when a value is not known."""

    findings: list[Finding] = field(default_factory=list)
    is_unreadable: bool = False

    def add(self, finding: Finding) -> None:
        self.findings.append(finding)

    def lack(self, finding: Finding) -> None:
        self.findings.append(finding)
        self.is_unreadable = True


@dataclass(frozen=True)
class Fields:
    """Reads the fields of `values`; what cannot be read is empty or 0, and noted."""

    values: dict[str, Any]
    where: str
    notes: Notes

    def called(self, where: str) -> Fields:
        """The same fields under the name that they turned out to have."""
        return Fields(self.values, where, self.notes)

    def text(self, key: str) -> str:
        """A text that must be there."""
        return self.optional_text(key) if self._has(key) else ""

    def optional_text(self, key: str, default: str = "") -> str:
        value = self.values.get(key, default)
        if isinstance(value, str):
            return value
        self._refuse(key, value, "text", is_known=isinstance(value, int | float))
        return str(value)

    def number(self, key: str) -> int:
        """A number that must be there, written as text."""
        return (self.optional_number(key) or 0) if self._has(key) else 0

    def optional_number(self, key: str) -> int | None:
        if key not in self.values:
            return None
        value = self.values[key]
        if isinstance(value, str) and value.isascii() and value.isdecimal():
            return int(value)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            self._refuse(key, value, "text", is_known=True)
            return value
        problem = f"`{key}` is {_kind(value)}, and should be a whole number of 0 or more"
        self.notes.lack(
            Finding("values", "error", self.where, problem, f'write digits, as in "{key}": "0"')
        )
        return None

    def objects(self, key: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects of a list that must be there, each with its place."""
        if not self._has(key):
            return
        value = self.values[key]
        if not isinstance(value, list):
            self._refuse(key, value, "a list", is_known=False)
            return
        if not value:
            problem, fix = f"`{key}` is empty", f"name at least one entry in `{key}`"
            self.notes.lack(Finding("values", "error", self.where, problem, fix))
        for place, item in enumerate(value):
            if isinstance(item, dict):
                yield place, item
            else:
                self._refuse(f"{key}[{place}]", item, "an object", is_known=False)

    def extra(self, known: Collection[str]) -> dict[str, Any]:
        """The fields besides `known`, as they are."""
        return {key: value for key, value in self.values.items() if key not in known}

    def _has(self, key: str) -> bool:
        if key in self.values:
            return True
        near = difflib.get_close_matches(key, self.values, n=1, cutoff=0.8)
        fix = f"is `{near[0]}` meant? write `{key}`" if near else f"add `{key}`"
        self.notes.lack(Finding("keys", "error", self.where, f"has no `{key}`", fix))
        return False

    def _refuse(self, key: str, value: object, wanted: str, *, is_known: bool) -> None:
        fix = f'HCCL reads text alone: write "{value}" in quotes' if is_known else f"write {wanted}"
        problem = f"`{key}` is {_kind(value)}, not {wanted}"
        finding = Finding("values", "error", self.where, problem, fix)
        if is_known:
            self.notes.add(finding)
        else:
            self.notes.lack(finding)


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"the number {value}" if isinstance(value, int | float) else f"the text `{value}`"
