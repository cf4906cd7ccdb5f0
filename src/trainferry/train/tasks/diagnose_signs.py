"""Tells in plain words why a network that spells texts does not learn, and what to try."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trainferry.train.tasks.diagnose import diagnose_reading, last_snapshots
from trainferry.train.tasks.task import Snapshot

_NEARLY_ALL = 0.97
_NEARLY_NONE = 0.03
_STILL_FAR = 0.1
_HARDLY_MOVED = 0.02


def diagnose_signs(recent: Sequence[Snapshot], guessing: float, least: float) -> str | None:
    """Say what goes wrong in the `recent` snapshots, oldest first, or None when nothing does.

    `guessing` is the loss of a network that knows nothing, `least` that of a perfect one. What
    does not move is told only when it has lasted `PATIENCE_STEPS` steps, with three snapshots in
    them.
    """
    if not recent:
        return None
    if not math.isfinite(recent[-1].loss):
        return diagnose_reading(recent[-1:])
    lately = last_snapshots(recent)
    return _plateau(lately, guessing, least) if lately else None


def _plateau(lately: Sequence[Snapshot], guessing: float, least: float) -> str | None:
    steps = lately[-1].step - lately[0].step
    if all(snapshot.empty_share >= _NEARLY_ALL for snapshot in lately):
        return (
            f"Nothing has been read for {steps} steps: the network answers the null everywhere. "
            "Most runs leave this plateau alone. If this one does not, try a learning rate three "
            "times lower, weights to start from (--init-from), or `count_nulls` false, so that "
            "the places behind a text do not count; and check with `trainferry data check` that "
            "the texts are not empty."
        )
    if all(snapshot.distinct_share <= _NEARLY_NONE for snapshot in lately):
        return (
            f"All pictures have been read as the same text for {steps} steps: the network does not "
            "look at them. Try a lower learning rate, and check with `trainferry data check` that "
            "pictures differ and that each has its own text."
        )
    half = len(lately) // 2
    before, after = (_mean_loss(part) for part in (lately[:half], lately[half:]))
    is_far = after > least + _STILL_FAR * (guessing - least)
    if is_far and after > (1 - _HARDLY_MOVED) * before:
        return (
            f"The loss has stayed at {after:.1f} for {steps} steps; guessing gives {guessing:.1f}, "
            f"a perfect network {least:.1f}. A network that has learnt how texts usually go on, "
            "but not to look at the pictures, stays at such a loss for long. If this run does "
            "not leave that plateau, try a learning rate three times lower or higher, less "
            "variation, pictures that are easier to read to begin with, or weights to start from "
            "(--init-from); and check with `trainferry data check` that texts and pictures belong "
            "together."
        )
    return None


def _mean_loss(snapshots: Sequence[Snapshot]) -> float:
    return sum(snapshot.loss for snapshot in snapshots) / len(snapshots)
