"""Two limits of a machine that end trainings late: shared memory and open files."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from trainferry.launch.preflight.crew import Crew
from trainferry.launch.preflight.report import Check, Problem

SHARED_MEMORY = Path("/dev/shm")
LITTLE_SHARED_BYTES = 512 * 1024**2  # Docker gives 64 MiB, and readers of data die of it

LimitFacts: TypeAlias = dict[str, int | None]


def look_at_limits() -> LimitFacts:
    """Sizes; None for shared memory on a system without /dev/shm."""
    shared = shutil.disk_usage(SHARED_MEMORY).total if SHARED_MEMORY.is_dir() else None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = None if soft == resource.RLIM_INFINITY else soft
    return {"shared_bytes": shared, "files": files}


def files_needed(ranks: int) -> int:
    """Open files of a rank: connections to the others, twice, and those of its readers."""
    return max(1024, 512 + 4 * ranks)


def judge_limits(crew: Crew, facts: Mapping[int, LimitFacts]) -> Check:
    shared = [size for one in facts.values() if (size := one["shared_bytes"]) is not None]
    files = [limit for one in facts.values() if (limit := one["files"]) is not None]
    parts = [
        f"{min(shared) / 1024**3:.1f} GiB of shared memory" if shared else "no /dev/shm",
        f"{min(files):,} open files" if files else "open files without limit",
    ]
    problems = tuple(_tight(crew, facts))
    measured = {str(rank): dict(one) for rank, one in facts.items()}
    return Check("limits", ", ".join(parts), problems, measured=measured)


def _tight(crew: Crew, facts: Mapping[int, LimitFacts]) -> Iterator[Problem]:
    small = [
        rank
        for rank, one in facts.items()
        if one["shared_bytes"] is not None and one["shared_bytes"] < LITTLE_SHARED_BYTES
    ]
    if small:
        least = min(facts[rank]["shared_bytes"] or 0 for rank in small)
        yield Problem(
            "warning",
            f"{crew.name_all(small)}: {least / 1024**2:.0f} MiB of shared memory",
            "start the container with --shm-size=8g, or --ipc=host",
        )
    needed = files_needed(crew.place.ranks)
    few = [rank for rank, one in facts.items() if (one["files"] or needed) < needed]
    if few:
        least = min(facts[rank]["files"] or 0 for rank in few)
        yield Problem(
            "warning",
            f"{crew.name_all(few)}: {least:,} open files allowed, {needed:,} wanted",
            f"`ulimit -n {needed}` before the start, or LimitNOFILE of the service",
        )
