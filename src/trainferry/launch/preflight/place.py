"""Which rank this process is, as its environment says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainferry.errors import UsageError

_HINT = "start it with `trainferry launch --check`, or with torchrun"


@dataclass(frozen=True)
class Place:
    """A rank among the others. `address` and `port` are those of rank 0.

    `attempt` sets apart the ranks of a restarted run; `has_agent_store`: torchrun's agent, and
    not rank 0, holds the store.
    """

    rank: int
    ranks: int
    local_rank: int
    local_ranks: int
    device: int
    address: str
    port: int
    rank_table: Path | None = None
    attempt: str = "0"
    has_agent_store: bool = False

    @property
    def machines(self) -> int:
        return -(-self.ranks // self.local_ranks)

    def planned_machine(self, rank: int) -> int:
        """The number of the machine that `rank` is to run on."""
        return rank // self.local_ranks


def read_place(environment: Mapping[str, str]) -> Place:
    """Raises UsageError where a variable that every rank needs is missing or is no number."""
    rank, ranks = _number(environment, "RANK"), _number(environment, "WORLD_SIZE")
    local_rank = _number(environment, "LOCAL_RANK")
    if not 0 <= rank < ranks:
        raise UsageError(f"there is no rank {rank} among {ranks}", hint=_HINT)
    device = "DEVICE_ID" if "DEVICE_ID" in environment else "LOCAL_RANK"
    table = environment.get("RANK_TABLE_FILE")
    names = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")
    return Place(
        rank=rank,
        ranks=ranks,
        local_rank=local_rank,
        local_ranks=_number(environment, "LOCAL_WORLD_SIZE"),
        device=_number(environment, device),
        address=_text(environment, "MASTER_ADDR"),
        port=_number(environment, "MASTER_PORT"),
        rank_table=Path(table) if table else None,
        attempt="-".join(environment.get(name, "0") for name in names),
        has_agent_store=environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True",
    )


def _text(environment: Mapping[str, str], name: str) -> str:
    if value := environment.get(name):
        return value
    raise UsageError(f"the variable {name} is not set for this process", hint=_HINT)


def _number(environment: Mapping[str, str], name: str) -> int:
    value = _text(environment, name)
    if not value.isdecimal():
        raise UsageError(f"the variable {name} is `{value}`, which is no number", hint=_HINT)
    return int(value)
