"""What a rule found in a rank table: where, what is wrong, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning"]

# A problem that starts with one of these makes a sentence with the entry as its subject.
_VERBS = frozenset({"has", "holds", "is", "starts", "takes"})


@dataclass(frozen=True)
class Finding:
    """One problem. `where` names the entry: a server, a device of it, or the file."""

    rule: str
    severity: Severity
    where: str
    problem: str
    fix: str

    def sentence(self) -> str:
        joint = " " if self.problem.split(maxsplit=1)[0] in _VERBS else ": "
        return f"{self.where}{joint}{self.problem}"
