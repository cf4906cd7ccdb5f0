"""Tells in plain words why a network that names photographs does not learn, and what to try."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trainferry.train.tasks.diagnose import RAN_AWAY, last_snapshots
from trainferry.train.tasks.task import Snapshot

_FEW = 0.03
_HARDLY_BETTER = 0.98


def diagnose_classes(recent: Sequence[Snapshot], classes: int) -> str | None:
    """Say what goes wrong in the `recent` snapshots, oldest first, or None when nothing does.

    `distinct_share` of a snapshot is that of the samples that did not get the commonest answer.
    What does not move is told only when it has lasted `PATIENCE_STEPS` steps, with three
    snapshots in them.
    """
    if not recent:
        return None
    last = recent[-1]
    if not math.isfinite(last.loss):
        return RAN_AWAY
    lately = last_snapshots(recent)
    return _plateau(lately, classes) if lately else None


def _plateau(lately: Sequence[Snapshot], classes: int) -> str | None:
    steps = lately[-1].step - lately[0].step
    loss = sum(snapshot.loss for snapshot in lately) / len(lately)
    guessing = math.log(classes)
    if all(snapshot.distinct_share <= _FEW for snapshot in lately) and loss > guessing / 2:
        return (
            f"Nearly all pictures have been given one and the same class for {steps} steps: the "
            "network does not look at them. Try a learning rate three times lower with a longer "
            "warm-up; check with `trainferry data check` how many pictures each class has, and "
            "that picture.mean and picture.deviation fit the network."
        )
    if loss >= _HARDLY_BETTER * guessing:
        return (
            f"The loss has stayed at {loss:.2f} for {steps} steps; guessing among {classes} "
            f"classes gives {guessing:.2f}. Large networks on many classes may need longer. If "
            "this run does not leave that plateau, try a learning rate three times lower with a "
            "longer warm-up, or three times higher; less mixing and fewer operations; and check "
            "with `trainferry data check` that labels and pictures belong together."
        )
    return None
