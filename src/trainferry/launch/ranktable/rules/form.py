"""Rules about what a rank table says of itself: version, status, and how many of what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainferry.launch.ranktable.chips import Chip
from trainferry.launch.ranktable.finding import Finding
from trainferry.launch.ranktable.table import (
    COMPLETED,
    SERVER_LIST_VERSION,
    SUPER_POD_VERSION,
    TEMPLATE_WORDS,
    RankTable,
)

_TABLE = "the table"


def check_version(table: RankTable, chip: Chip) -> Iterator[Finding]:
    if table.template != "server-list":
        if table.version:
            problem = f"is a group list with version `{table.version}`: HCCL then looks for servers"
            yield _error("version", problem, "delete `version`, or convert it to a server list")
    elif not table.version:
        problem = "has a `server_list` and no `version`: HCCL then looks for a `group_list`"
        yield _error("version", problem, f'add "version": "{SERVER_LIST_VERSION}"')
    elif table.version == SUPER_POD_VERSION and chip.name != "910c":
        problem = f"has version `{SUPER_POD_VERSION}`, for super pods, which the {chip.name} is not"
        yield _error("version", problem, f'write "version": "{SERVER_LIST_VERSION}"')
    elif table.version not in (SERVER_LIST_VERSION, SUPER_POD_VERSION):
        problem = f"has version `{table.version}`, which HCCL does not know"
        yield _error("version", problem, f'write "version": "{SERVER_LIST_VERSION}"')


def check_status(table: RankTable, _: Chip) -> Iterator[Finding]:
    if table.status == COMPLETED:
        return
    fix = f'write "status": "{COMPLETED}" once every address is right'
    problem = f"has the status `{table.status}`"
    if table.status == "initializing":
        problem += ": a scheduler is still filling it in; HCCL waits 30 minutes for it and fails"
        fix = f"wait until its writer says `{COMPLETED}`; if you write it yourself, {fix}"
    yield _error("status", problem, fix)


def check_template(table: RankTable, chip: Chip) -> Iterator[Finding]:
    if table.template != "server-list" and not chip.is_first_generation:
        problem = f"is a {TEMPLATE_WORDS[table.template]}, documented for the 910 alone"
        fix = "trainferry ranktable convert FILE --template server-list"
        yield Finding("template", "warning", _TABLE, problem, fix)


def check_counts(table: RankTable, chip: Chip) -> Iterator[Finding]:
    for count in table.counts:
        fix = f'write "{count.key}": "{count.found}"'
        if count.stated is None:
            if count.is_required:
                yield Finding("counts", "error", count.where, f"has no `{count.key}`", fix)
            elif chip.name != "910c":
                problem = f"has no `{count.key}`, which the documentation asks for"
                yield Finding("counts", "warning", count.where, problem, fix)
        elif count.stated != count.found:
            problem = f"`{count.key}` says {count.stated}, and there are {count.found}"
            yield Finding("counts", "error", count.where, problem, fix)


def check_names(table: RankTable, _: Chip) -> Iterator[Finding]:
    """Instances of a group list: RANK_ID is their name there, so it must say which one."""
    places = {(device.group, device.pod, server.id) for server, device in table.entries}
    for pod, times in Counter(pod for _, pod, _ in places).items():
        if times > 1:
            problem = f"is the name of {times} instances; RANK_ID is this name, and must name one"
            fix = "give each instance its own `pod_name`"
            yield Finding("instance names", "error", f"instance `{pod}`", problem, fix)
    if any(not pod for _, pod, _ in places):
        problem = "an instance has an empty `pod_name`"
        yield Finding("instance names", "error", _TABLE, problem, "name it, as its container")


def _error(rule: str, problem: str, fix: str) -> Finding:
    return Finding(rule, "error", _TABLE, problem, fix)
