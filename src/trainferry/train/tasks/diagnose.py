"""Tells in plain words why a text network does not learn, and what to try."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trainferry.train.tasks.task import Snapshot

# A healthy run also reads nothing at first: the blank comes before the characters.
PATIENCE_STEPS = 1500
_NEARLY_ALL = 0.97
_NEARLY_NONE = 0.03
RAN_AWAY = (
    "The weights or the numbers have run out of range; `--debug overflow` names the layer. "
    "Try a lower learning rate, a longer warm-up or gradient clipping; with fp16 try bf16 "
    "or fp32. A run keeps its recipe: start a new one with other values, from the weights "
    "of this one with --init-from."
)


def diagnose_reading(recent: Sequence[Snapshot]) -> str | None:
    """Say what goes wrong in the `recent` snapshots, oldest first, or None when nothing does.

    A plateau is told only when it has lasted `PATIENCE_STEPS` steps, with three snapshots in them.
    """
    if not recent:
        return None
    last = recent[-1]
    if not math.isfinite(last.loss):
        return RAN_AWAY
    if steps := _lasting(recent, [s.empty_share >= _NEARLY_ALL for s in recent]):
        return (
            f"Nothing has been read for {steps} steps while the loss {_movement(recent)}: the "
            "network answers the CTC blank everywhere. Most runs leave this plateau alone. If this "
            "one does not, try a learning rate three times higher, or three times lower with a "
            "longer warm-up; check with `trainferry data check` that labels, alphabet and pictures "
            "belong together; and use more data: a few thousand words are seldom enough."
        )
    if steps := _lasting(recent, [s.distinct_share <= _NEARLY_NONE for s in recent]):
        return (
            f"All pictures have been read as the same text for {steps} steps: the network does not "
            "look at them. Try a lower learning rate, and check with `trainferry data check` that "
            "pictures differ and that each has its own label."
        )
    return None


def last_snapshots(recent: Sequence[Snapshot]) -> Sequence[Snapshot]:
    """Return the snapshots of the last `PATIENCE_STEPS` steps; none if there are too few."""
    since = recent[-1].step - PATIENCE_STEPS
    if recent[0].step > since:
        return ()
    first = max(place for place, snapshot in enumerate(recent) if snapshot.step <= since)
    return recent[first:] if len(recent) - first >= 3 else ()


def _lasting(recent: Sequence[Snapshot], troubled: Sequence[bool]) -> int:
    """Return for how many steps, up to the last snapshot, there was trouble; 0 if not for long."""
    first = len(recent)
    while first > 0 and troubled[first - 1]:
        first -= 1
    if len(recent) - first < 3:
        return 0
    steps = recent[-1].step - recent[first].step
    return steps if steps >= PATIENCE_STEPS else 0


def _movement(recent: Sequence[Snapshot]) -> str:
    change = recent[-1].loss - recent[0].loss
    small = 0.02 * abs(recent[0].loss)
    if change < -small:
        return "falls"
    return "rises" if change > small else "stays where it is"
