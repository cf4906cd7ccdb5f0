"""Cores that other programs use too, and threads that wait for each other there.

The threads of an operator on the CPU wait for the slowest of them, and while they do so, they
spin: that is fastest as long as each has a core of its own. Where two programs do so side by side,
each keeps the other from the core that it waits for, and both come nearly to a stop.

Nothing here imports torch: what its threads do is settled when it is.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import MutableMapping
from pathlib import Path
from typing import NamedTuple

# What `launch` has made OMP_NUM_THREADS, where nobody else had: the cores of a rank.
SHARE = "TRAINFERRY_CORES"

_STATISTICS = Path("/proc/stat")
_SECONDS = 0.1
_A_PROGRAM = 0.5  # cores; less is what every system does now and then
_SETTINGS = ("OMP_WAIT_POLICY", "OMP_NUM_THREADS", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")


class Times(NamedTuple):
    """What the cores that this program may use have done so far, in the same unit."""

    busy: float
    all: float


def share_cores(environment: MutableMapping[str, str] = os.environ) -> str | None:
    """Let threads sleep while they wait where others use the cores; return what to tell.

    Nothing changes where somebody said how threads should wait, or how many there should be.
    """
    cores = len(os.sched_getaffinity(0))
    if cores == 1 or "torch" in sys.modules or any(name in environment for name in _SETTINGS):
        return None
    others = cores_in_use()
    if others is None or others < _A_PROGRAM:
        return None
    environment["OMP_WAIT_POLICY"] = "PASSIVE"
    return (
        f"other programs use {others:.1f} of {cores} cores: threads sleep while they wait for each "
        "other (OMP_WAIT_POLICY=PASSIVE)"
    )


def cores_in_use(seconds: float = _SECONDS) -> float | None:
    """Return how many cores are busy while this program sleeps; None where nobody counts that."""
    before = read_times()
    time.sleep(seconds)
    after = read_times()
    if before is None or after is None or after.all <= before.all:
        return None
    share = (after.busy - before.busy) / (after.all - before.all)
    return share * len(os.sched_getaffinity(0))


def read_times(statistics: Path = _STATISTICS) -> Times | None:
    """Add up the cores that this program may use; programs that are nice leave them to others."""
    own = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    try:
        lines = [line.split() for line in statistics.read_text().splitlines()]
    except OSError:
        return None
    busy = total = 0.0
    for name, *fields in lines:
        if name in own and len(fields) >= 8:
            user, nice, system, idle, waiting, hard, soft, stolen = map(float, fields[:8])
            busy += user + system + hard + soft + stolen
            total += user + nice + system + idle + waiting + hard + soft + stolen
    return Times(busy, total) if total else None
