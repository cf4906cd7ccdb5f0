"""Which rank this process is, told by the environment as on the device."""

import json
import os

from trainferry_stand_in.errors import RefusedValue

WORLD = "hccl_world_group"
# Set by the rehearsal; clusters described by CM_* leave RANK_ID and RANK_SIZE unset.
RANK, RANKS, HUB = "TRAINFERRY_RANK", "TRAINFERRY_RANKS", "TRAINFERRY_HUB"


def world_size():
    """How many ranks there are; 1 where nothing says otherwise."""
    if os.environ.get("RANK_SIZE") and os.environ.get("CM_WORKER_SIZE"):
        raise RefusedValue(
            "RANK_SIZE and CM_WORKER_SIZE are both set; the adapter refuses this. "
            "Describe the cluster by a rank table or by CM_*, not by both."
        )
    return _number(RANKS, "RANK_SIZE", "CM_WORKER_SIZE", default=1)


def world_rank():
    """The number of this process."""
    return _number(RANK, "RANK_ID", default=0)


def local_ranks():
    """The ranks on the machine of this process, in order."""
    for server in _servers():
        if world_rank() in server:
            return server
    return list(range(world_size()))


def _servers():
    """The ranks of every machine of the rank table; none where there is no table."""
    path = os.environ.get("RANK_TABLE_FILE")
    if not path or not os.path.isfile(path):
        return []
    with open(path, encoding="utf-8") as table:
        servers = json.load(table).get("server_list", [])
    return [
        sorted(int(device["rank_id"]) for device in server.get("device", [])) for server in servers
    ]


def _number(*names, **default):
    for name in names:
        text = os.environ.get(name)
        if text:
            try:
                return int(text)
            except ValueError:
                raise RefusedValue(f"{name}={text!r} is not a number") from None
    return default["default"]
