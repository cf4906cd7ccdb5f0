"""What a user chooses for a migration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Adapter: TypeAlias = Literal["explicit", "patched"]
Chip: TypeAlias = Literal["910", "910b", "910c", "950", "310p"]
Distributed: TypeAlias = Literal["auto", "none", "horovod", "strategy", "hccl"]


@dataclass(frozen=True)
class Options:
    """The target of a migration, and which rules take part.

    `adapter`: "patched" for adapters that put the NPU into every session when they are
    imported, "explicit" for all: sessions are given their configuration in the code.
    `chip`: "910" is the first generation, which saturates instead of giving Inf and NaN.
    `distributed`: "auto" does what the project does; "hccl" makes a project for one device
    data-parallel; "none" leaves everything distributed alone.
    """

    adapter: Adapter = "explicit"
    chip: Chip = "910b"
    distributed: Distributed = "auto"
    only: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    lint: bool = False

    @property
    def saturates(self) -> bool:
        """Whether an overflow gives the largest number instead of Inf."""
        return self.chip == "910"
