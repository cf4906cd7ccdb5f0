"""The variables a rank finds in its environment: which, what they say, and who reads them.

One table serves the processes that `launch` starts itself and the files it writes for schedulers,
so that a program sees the same variables everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from trainferry.errors import UsageError

if TYPE_CHECKING:
    from trainferry.launch.write.plan import LaunchPlan

DEFAULT_PORT = 29500

# What is known of a rank when it starts; the value of every variable is one of these.
Fact = Literal[
    "rank",
    "ranks",
    "local_rank",
    "local_ranks",
    "node",
    "device",
    "job_id",
    "rank_table",
    "address",
    "port",
    "connect_timeout",
]


@dataclass(frozen=True)
class RankVariable:
    """One variable: `fact` is its value, `source` says where that is written."""

    name: str
    fact: Fact
    meaning: str
    source: str


_TORCH = "PyTorch, torchrun documentation, section Environment Variables"
_CANN = "CANN environment variable reference, section TF Adapter"
_SCRIPTS = "training scripts of the TensorFlow originals"

VARIABLES = (
    RankVariable("RANK", "rank", "number of the process over all machines, from 0", _TORCH),
    RankVariable("WORLD_SIZE", "ranks", "number of processes over all machines", _TORCH),
    RankVariable("LOCAL_RANK", "local_rank", "number of the process on its machine", _TORCH),
    RankVariable("LOCAL_WORLD_SIZE", "local_ranks", "number of processes of a machine", _TORCH),
    RankVariable("MASTER_ADDR", "address", "machine of rank 0; not set if unknown", _TORCH),
    RankVariable("MASTER_PORT", "port", "port of rank 0; set with MASTER_ADDR", _TORCH),
    RankVariable(
        "RANK_ID", "rank", "number of the process; equals `rank_id` in the rank table", _CANN
    ),
    RankVariable("RANK_SIZE", "ranks", "number of processes; excludes CM_WORKER_SIZE", _CANN),
    RankVariable("RANK_INDEX", "node", "number of the machine", _SCRIPTS),
    RankVariable("DEVICE_ID", "device", "number of the device on its machine", _SCRIPTS),
    RankVariable("DEVICE_INDEX", "rank", "number of the device over all machines", _SCRIPTS),
    RankVariable(
        "ASCEND_DEVICE_ID",
        "device",
        "logical number of the NPU of this process, among those of its machine or container",
        "CANN environment variable reference, section Resource Configuration",
    ),
    RankVariable(
        "RANK_TABLE_FILE", "rank_table", "path of the rank table; not set without one", _CANN
    ),
    RankVariable("JOB_ID", "job_id", "name of the job: letters, digits, hyphens", _CANN),
    RankVariable(
        "HCCL_CONNECT_TIMEOUT",
        "connect_timeout",
        "seconds a rank waits for the others to connect, 120 to 7200",
        "CANN environment variable reference, section HCCL",
    ),
)


def rank_environment(
    plan: LaunchPlan, rank: int, *, address: str | None = None, job_id: str | None = None
) -> dict[str, str]:
    """The variables of one rank, with those the plan sets for all.

    `address` is the machine of rank 0, and `job_id` the scheduler's number of the job; without
    it the plan's name is used.
    """
    if not 0 <= rank < plan.ranks:
        raise UsageError(
            f"there is no rank {rank} on {plan.nodes} machines of {plan.devices_per_node} devices",
            hint=f"ranks are 0 to {plan.ranks - 1}",
        )
    node, local_rank = divmod(rank, plan.devices_per_node)
    facts: dict[Fact, object | None] = {
        **known_facts(plan),
        "rank": rank,
        "local_rank": local_rank,
        "node": node,
        "device": plan.devices[local_rank],
        "job_id": job_id or plan.name,
        "rank_table": plan.rank_table,
        "address": address,
        "port": (plan.rendezvous_port or DEFAULT_PORT) if address else None,
    }
    own = {one.name: facts[one.fact] for one in VARIABLES}
    known = {name: str(value) for name, value in own.items() if value is not None}
    return {**plan.environment, **known}


def known_facts(plan: LaunchPlan) -> dict[Fact, int]:
    """The facts that are the same for all ranks and known before the job starts."""
    return {
        "ranks": plan.ranks,
        "local_ranks": plan.devices_per_node,
        "connect_timeout": plan.connect_timeout_seconds,
    }
