"""Whether all ranks have the same sound rank table, and stand in it as they run."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from trainferry.errors import DataError
from trainferry.launch.preflight.crew import Crew, Hello
from trainferry.launch.preflight.report import Check, Problem
from trainferry.launch.ranktable.check import check_reading
from trainferry.launch.ranktable.chips import ChipName
from trainferry.launch.ranktable.document import read_bytes
from trainferry.launch.ranktable.reading import read_table

TableFacts: TypeAlias = dict[str, Any]

_MOST_SHOWN = 3


def look_at_table(path: Path | None, rank: int, chip: ChipName | None) -> TableFacts | None:
    """What `rank` sees in its table: a checksum, the table's faults and its own entry."""
    if path is None:
        return None
    try:
        digest = hashlib.sha256(read_bytes(path)).hexdigest()
    except DataError as error:
        return {"path": str(path), "unreadable": str(error)}
    check = check_reading(read_table(path), chip)
    facts: TableFacts = {"path": str(path), "digest": digest, "unreadable": ""}
    facts["errors"] = [(one.sentence(), one.fix) for one in check.errors]
    facts["warnings"] = [(one.sentence(), one.fix) for one in check.warnings]
    facts["size"] = check.table.size if check.table else 0
    facts["entry"] = None
    for server, device in check.table.entries if check.table else ():
        if device.rank == rank:
            facts["entry"] = {"server": server.id, "device": device.id}
    return facts


def servers_of(path: Path | None) -> dict[int, str]:
    """The server of each rank, as far as the table can be read."""
    if path is None or not path.is_file():
        return {}  # `look_at_table` says so
    table = read_table(path).table
    return {device.rank: server.id for server, device in table.entries} if table else {}


def judge_table(crew: Crew, facts: Mapping[int, TableFacts | None]) -> Check:
    having = {rank: found for rank, found in facts.items() if found is not None}
    if not having:
        return Check("rank table", "none is used (RANK_TABLE_FILE is not set)")
    problems = [*_absent(crew, facts), *_unequal(crew, having)]
    good = {rank: found for rank, found in having.items() if not found["unreadable"]}
    if good:
        for found in {found["digest"]: found for found in good.values()}.values():
            problems += _unsound(found)
        for hello in crew.hellos:
            if hello.rank in good:
                problems += _elsewhere(crew, hello, good[hello.rank])
        problems += _servers(crew, good)
    paths = dict.fromkeys(found["path"] for found in having.values())
    digests = {found.get("digest", "")[:12] for found in good.values()}
    sentence = f"{', '.join(paths)}, checksum {', '.join(sorted(digests)) or 'unknown'}"
    return Check("rank table", sentence, tuple(dict.fromkeys(problems)))


def _absent(crew: Crew, facts: Mapping[int, TableFacts | None]) -> Iterator[Problem]:
    without = [rank for rank, found in facts.items() if found is None]
    if without:
        fix = "set RANK_TABLE_FILE for all ranks, or for none"
        yield Problem("wrong", f"{crew.name_all(without)} has no rank table, others have", fix)
    for rank, found in facts.items():
        if found is not None and found["unreadable"]:
            sentence = f"{crew.name(rank)}: {found['unreadable']}"
            yield Problem("wrong", sentence, "copy the rank table to every machine")


def _unequal(crew: Crew, having: Mapping[int, TableFacts]) -> Iterator[Problem]:
    ranks: dict[str, list[int]] = defaultdict(list)
    for rank, found in having.items():
        if not found["unreadable"]:
            ranks[found["digest"]].append(rank)
    common = max(ranks, key=lambda digest: len(ranks[digest]), default="")
    for digest, found_by in ranks.items():
        if digest != common:
            yield Problem(
                "wrong",
                f"{crew.name_all(found_by)} has another rank table than the others "
                f"(checksum {digest[:12]}, theirs {common[:12]})",
                "copy one file to all machines; HCCL compares them and ends the run",
            )


def _unsound(found: TableFacts) -> Iterator[Problem]:
    for sentence, fix in found["errors"][:_MOST_SHOWN]:
        yield Problem("wrong", sentence, fix)
    for sentence, fix in found["warnings"][:_MOST_SHOWN]:
        yield Problem("warning", sentence, fix)
    more = len(found["errors"]) - _MOST_SHOWN
    if more > 0:
        fix = f"`trainferry ranktable check {found['path']}` shows all"
        yield Problem("wrong", f"{more:,} more errors in the rank table", fix)


def _elsewhere(crew: Crew, hello: Hello, found: TableFacts) -> Iterator[Problem]:
    name, entry = crew.name(hello.rank), found["entry"]
    if found["size"] and found["size"] != crew.place.ranks:
        if hello.rank == 0:
            sentence = (
                f"the rank table has {found['size']:,} devices for {crew.place.ranks:,} ranks"
            )
            yield Problem("wrong", sentence, "start as many ranks as the table has devices")
        return
    if entry is None:
        fix = "make the table anew, or start the ranks that it has"
        yield Problem("wrong", f"{name} is not in its rank table", fix)
    elif entry["device"] != hello.device:
        yield Problem(
            "wrong",
            f"{name} uses device {hello.device}; in its rank table it has {entry['device']} "
            f"of {entry['server']}",
            "start the devices that the table names, or make the table for these",
        )


def _servers(crew: Crew, good: Mapping[int, TableFacts]) -> Iterator[Problem]:
    """A server of the table is one machine, and a machine one server."""
    by_machine: dict[str, set[str]] = defaultdict(set)
    by_server: dict[str, set[str]] = defaultdict(set)
    for rank, found in good.items():
        if found["entry"]:
            machine, server = crew.machine_of[rank].name, found["entry"]["server"]
            by_machine[machine].add(server)
            by_server[server].add(machine)
    fix = "ranks count along the servers of the table: start the machines in that order"
    for machine, servers in by_machine.items():
        if len(servers) > 1:
            named = " and ".join(sorted(servers))
            yield Problem("wrong", f"ranks of {machine} stand under {named} in the table", fix)
    for server, machines in by_server.items():
        if len(machines) > 1:
            named = " and ".join(sorted(machines))
            yield Problem("wrong", f"ranks of server {server} run on {named}", fix)
