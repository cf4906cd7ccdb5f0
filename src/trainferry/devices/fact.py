"""One thing found or missed on a machine, with the one thing to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "missing", "problem"]


@dataclass(frozen=True)
class Fact:
    """`missing` is something training can do without; `problem` wants the advice followed."""

    group: str
    name: str
    state: State
    value: str
    advice: str = ""


def parse_version(text: str) -> tuple[int, ...]:
    """The leading numbers of a version: 2.13.0+cpu is (2, 13, 0), 8.0.RC2 is (8, 0)."""
    numbers = []
    for part in text.partition("+")[0].split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    return tuple(numbers)
