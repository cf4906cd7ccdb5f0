"""Sentences about a rehearsal that several reports have in common."""

from __future__ import annotations

import math

from trainferry.counted import counted
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.rehearsal import RankRun, Rehearsal, Side

MEANINGS = {
    Severity.REFUSED: "the device would stop, hang or compute something else",
    Severity.RISK: "it would run, but slower, or wrong in cases that were not seen here",
    Severity.NOTE: "worth knowing",
}
LIMITS = "Nothing was run on an NPU: its precision, memory, speed and compiler are not rehearsed."


def side_sentence(side: Side) -> str:
    """`10 steps in 12 s (0.05 s each), loss 2.31 to 1.2`."""
    first = side.ranks[0]
    parts = [f"{counted(side.steps, 'train step')} in {first.seconds:.0f} s"]
    if first.step_seconds is not None:
        parts[0] += f" ({first.step_seconds:.2g} s each)"
    if len(side.ranks) > 1:
        parts.insert(0, counted(len(side.ranks), "rank"))
    if losses := loss_range(first):
        parts.append(losses)
    parts += [who_ended(side, rank) for rank in side.ranks if rank.outcome.name != "GOOD"]
    return ", ".join(parts)


def loss_range(rank: RankRun) -> str:
    known = [loss for loss in rank.losses if loss is not None]
    if not known:
        return ""
    if len(known) == 1:
        return f"loss {number(known[0])}"
    return f"loss {number(known[0])} to {number(known[-1])}"


def who_ended(side: Side, rank: RankRun) -> str:
    who = f"rank {rank.rank} " if len(side.ranks) > 1 else ""
    return f"{who}{rank.ending}"


def last_words(rank: RankRun, most: int) -> tuple[str, ...]:
    """The end of what a script printed: its last traceback with a little before it, if any."""
    lines = rank.last_lines
    starts = [index for index, line in enumerate(lines) if line.startswith("Traceback ")]
    first = max(0, starts[-1] - 2) if starts else 0
    return lines[first:][-most:]


def number(value: float | None) -> str:
    """Five digits, or a word for what is no number."""
    if value is None:
        return "none"
    return f"{value:.5g}" if math.isfinite(value) else str(value)


def ranks_of(finding: Finding, rehearsal: Rehearsal) -> str:
    """`rank 1`, where that says something: there are several and it is not all of them."""
    everyone = len(rehearsal.sides[0].ranks)
    if everyone == 1 or not finding.ranks or len(finding.ranks) == everyone:
        return ""
    word = "rank" if len(finding.ranks) == 1 else "ranks"
    return f"{word} {', '.join(map(str, finding.ranks))}"


def counts_sentence(rehearsal: Rehearsal) -> str:
    counts = [f"{rehearsal.count(one):,} {one.value}" for one in Severity]
    return ", ".join(counts)
