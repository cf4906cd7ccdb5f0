"""Rules about ranks: from 0 without a gap, not mixed between servers, in a sensible order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from trainferry.launch.ranktable.chips import Chip
from trainferry.launch.ranktable.finding import Finding
from trainferry.launch.ranktable.table import (
    Device,
    RankTable,
    Server,
    count_of,
    name_entry,
    shorten_numbers,
)


def check_ranks(table: RankTable, _: Chip) -> Iterator[Finding]:
    holders: dict[int, list[tuple[Server, Device]]] = defaultdict(list)
    for server, device in table.entries:
        holders[device.rank].append((server, device))
    missing = sorted(set(range(table.size)) - set(holders))
    free = f"; not used: {shorten_numbers(missing)}" if missing else ""
    for rank, entries in sorted(holders.items()):
        for server, device in entries[1:]:
            first = name_entry(*entries[0])
            problem = f"rank {rank} is also that of {first}"
            fix = f"give it a `rank_id` of its own{free}"
            yield Finding("ranks", "error", name_entry(server, device), problem, fix)
        if rank >= table.size:
            problem = f"rank {rank} of {count_of(table.size, 'device')}, which are 0 to "
            problem += str(table.size - 1)
            fix = f"count from 0 without a gap{free}"
            yield Finding("ranks", "error", name_entry(*entries[0]), problem, fix)


def check_rank_blocks(table: RankTable, _: Chip) -> Iterator[Finding]:
    """HCCL does not run with ranks that alternate between servers."""
    for server in table.servers:
        ranks = sorted({device.rank for device in server.devices})
        if any(after - before > 1 for before, after in pairwise(ranks)):
            others = {
                device.rank
                for other, device in table.entries
                if other is not server and ranks[0] < device.rank < ranks[-1]
            }
            if others:
                problem = f"its ranks {shorten_numbers(ranks)} are mixed with those of others"
                first = ranks[0]
                fix = f"number its devices in one run, {first}-{first + len(ranks) - 1} for example"
                yield Finding("rank blocks", "error", name_entry(server), problem, fix)


def check_rank_order(table: RankTable, _: Chip) -> Iterator[Finding]:
    """Neighbouring ranks talk most: they should be neighbouring devices."""
    for server in table.servers:
        by_device = [device.rank for device in sorted(server.devices, key=lambda one: one.id)]
        if by_device != sorted(by_device):
            problem = f"its ranks go {', '.join(map(str, by_device))} along its devices"
            fix = "number devices in the order of their ids, so that neighbours talk"
            yield Finding("rank order", "warning", name_entry(server), problem, fix)
    firsts = [min(device.rank for device in server.devices) for server in table.servers]
    for (before, after), server in zip(pairwise(firsts), table.servers[1:], strict=True):
        if after < before:
            problem = f"starts with rank {after}, after a server that starts with {before}"
            fix = "list servers in the order of their ranks, for those who read the file"
            yield Finding("rank order", "warning", name_entry(server), problem, fix)
            return
