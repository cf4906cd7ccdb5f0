"""The environment of one rank as the device has it: a rank table, or a chief named by CM_*."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

Cluster = Literal["table", "cm"]
_PER_SERVER = 8
_JOB = "rehearsal"
# Left by another job, they would tell a rank that it is another one.
FOREIGN = (
    *("RANK_ID", "RANK_SIZE", "RANK_TABLE_FILE", "RANK_INDEX", "DEVICE_ID", "DEVICE_INDEX"),
    *("ASCEND_DEVICE_ID", "JOB_ID"),
    *("CM_CHIEF_IP", "CM_CHIEF_PORT", "CM_CHIEF_DEVICE", "CM_WORKER_SIZE", "CM_WORKER_IP"),
)


def write_rank_table(path: Path, ranks: int) -> Path:
    """A rank table, version 1.0, of servers with up to eight devices."""
    servers = [
        {"server_id": f"10.0.0.{number + 1}", "device": [_device(rank) for rank in some]}
        for number, some in enumerate(_by_server(ranks))
    ]
    table = {
        "version": "1.0",
        "server_count": str(len(servers)),
        "server_list": servers,
        "status": "completed",
    }
    path.write_text(json.dumps(table, indent=1), encoding="utf-8")
    return path


def rank_environment(
    rank: int, ranks: int, *, cluster: Cluster = "table", table: Path | None = None
) -> dict[str, str]:
    """The variables of one rank. CM_* excludes those of a rank table: the adapter refuses both."""
    device = rank % _PER_SERVER
    variables: dict[str, Any] = {
        "JOB_ID": _JOB,
        "DEVICE_ID": device,
        "ASCEND_DEVICE_ID": device,
        "DEVICE_INDEX": rank,
        "TRAINFERRY_RANK": rank,
        "TRAINFERRY_RANKS": ranks,
    }
    if cluster == "cm":
        variables |= {
            "CM_CHIEF_IP": "10.0.0.1",
            "CM_CHIEF_PORT": 60001,
            "CM_CHIEF_DEVICE": 0,
            "CM_WORKER_SIZE": ranks,
            "CM_WORKER_IP": f"10.0.0.{rank // _PER_SERVER + 1}",
        }
    else:
        variables |= {"RANK_ID": rank, "RANK_SIZE": ranks, "RANK_INDEX": rank // _PER_SERVER}
        if table is not None:
            variables["RANK_TABLE_FILE"] = table
    return {name: str(value) for name, value in variables.items()}


def move_python_path(value: str, projects: Iterable[Path], root: Path) -> str:
    """PYTHONPATH with folders of a project in their place in the copy `root`."""
    return os.pathsep.join(_moved(part, projects, root) for part in value.split(os.pathsep))


def _moved(part: str, projects: Iterable[Path], root: Path) -> str:
    for project in projects:
        if Path(part).is_absolute() and Path(part).is_relative_to(project):
            return str(root / Path(part).relative_to(project))
    return part


def _by_server(ranks: int) -> list[range]:
    return [range(first, min(first + _PER_SERVER, ranks)) for first in range(0, ranks, _PER_SERVER)]


def _device(rank: int) -> dict[str, str]:
    server, device = divmod(rank, _PER_SERVER)
    return {
        "device_id": str(device),
        "device_ip": f"192.168.{server}.{device + 1}",
        "rank_id": str(rank),
    }
