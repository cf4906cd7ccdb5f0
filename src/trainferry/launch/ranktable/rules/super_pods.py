"""Rules about super pods, which version 1.2 of the server list adds for the 910c."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from trainferry.launch.ranktable.chips import Chip
from trainferry.launch.ranktable.finding import Finding
from trainferry.launch.ranktable.table import RankTable, listed, name_entry

_RULE = "super pods"


def check_super_pods(table: RankTable, _: Chip) -> Iterator[Finding]:
    """Every server in one pod, pods of equal size, device numbers once in a pod."""
    if "super_pod_list" not in table.extra:
        return
    pods = _servers_of_pods(table.extra["super_pod_list"])
    if pods is None:
        problem = "`super_pod_list` is not a list of pods with `super_pod_id` and `server_list`"
        fix = 'write {"super_pod_id": "0", "server_list": [{"server_id": "node_0"}]}'
        yield _error("the table", problem, fix)
        return
    yield from _misplaced(table, pods)
    yield from _numbers(table, pods)
    if len({len(servers) for _, servers in pods}) > 1:
        sizes = ", ".join(f"`{id}` has {len(servers)}" for id, servers in pods)
        problem = f"its super pods differ in size: {sizes}"
        yield _error("the table", problem, "put equally many servers into each")


def _servers_of_pods(pods: Any) -> list[tuple[str, list[str]]] | None:  # noqa: ANN401 - JSON
    try:
        return [
            (str(pod["super_pod_id"]), [str(one["server_id"]) for one in pod["server_list"]])
            for pod in pods
        ]
    except (KeyError, TypeError):
        return None


def _misplaced(table: RankTable, pods: list[tuple[str, list[str]]]) -> Iterator[Finding]:
    placed = Counter(server for _, servers in pods for server in servers)
    known = {server.id for server in table.servers}
    for server in table.servers:
        if placed[server.id] != 1:
            times = "no super pod" if not placed[server.id] else f"{placed[server.id]} of them"
            problem = f"is in {times}"
            yield _error(name_entry(server), problem, "name it in one entry of `super_pod_list`")
    if unknown := [id for id in placed if id not in known]:
        problem = f"`super_pod_list` names {listed(unknown)}, not in `server_list`"
        yield _error("the table", problem, "add the server, or take it out of its super pod")
    for id, entries in Counter(id for id, _ in pods).items():
        if entries > 1:
            problem = f"is there {entries} times"
            yield _error(f"super pod `{id}`", problem, "give each its own `super_pod_id`")


def _numbers(table: RankTable, pods: list[tuple[str, list[str]]]) -> Iterator[Finding]:
    pod_of = {server: id for id, servers in pods for server in servers}
    seen: dict[tuple[str, str], str] = {}
    for server, device in table.entries:
        where = name_entry(server, device)
        value = device.extra.get("super_device_id")
        if not (isinstance(value, str) and value.isascii() and value.isdecimal()):
            problem = "has no `super_device_id`" if value is None else f"its number is {value!r}"
            fix = "`npu-smi info -t spod-info -i ID -c CHIP` prints it as SDID"
            yield _error(where, problem, fix)
            continue
        other = seen.setdefault((pod_of.get(server.id, ""), value), where)
        if other != where:
            problem = f"`super_device_id` {value} is also that of {other}"
            yield _error(where, problem, "each number is there once in a super pod")


def _error(where: str, problem: str, fix: str) -> Finding:
    return Finding(_RULE, "error", where, problem, fix)
