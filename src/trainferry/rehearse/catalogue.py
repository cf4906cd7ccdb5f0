"""All checks of a rehearsal: each is a file of `checks/`, and its docstring is its page.

A file has one of these:

    def on_rank(facts: RunFacts) -> Iterator[Finding]         looks at what one rank did
    def on_ranks(ranks: Sequence[Rank]) -> Iterator[...]  compares ranks; only for several
    TOLD = Told(severity, hint)                               a stand-in or the hub tells of it
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from trainferry.rehearse import checks
from trainferry.rehearse.finding import Finding
from trainferry.rehearse.told import Told
from trainferry.rehearse.tracing.rank import Rank

OnRank = Callable[[Rank], Iterator[Finding]]
OnRanks = Callable[[Sequence[Rank]], Iterator[Finding]]


@dataclass(frozen=True)
class Check:
    """One thing that a rehearsal looks for."""

    name: str
    page: str
    on_rank: OnRank | None
    on_ranks: OnRanks | None
    told: Told | None

    @property
    def title(self) -> str:
        return self.page.partition("\n")[0].removesuffix(".")


@functools.cache
def all_checks() -> dict[str, Check]:
    """Every check by its name, in the order of the names."""
    found = {}
    for entry in sorted(pkgutil.iter_modules(checks.__path__), key=lambda one: one.name):
        module = importlib.import_module(f"{checks.__name__}.{entry.name}")
        name = entry.name.replace("_", "-")
        found[name] = Check(
            name,
            inspect.cleandoc(module.__doc__ or ""),
            getattr(module, "on_rank", None),
            getattr(module, "on_ranks", None),
            getattr(module, "TOLD", None),
        )
    return found
