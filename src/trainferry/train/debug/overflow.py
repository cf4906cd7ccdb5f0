"""Overflow detection: the first layer and operator of a step whose values leave a number format.

Every step is watched by its largest values alone. Only a step in which one is out of range is
done again, operator by operator; and if a loss scale was in force, once more without it, to tell
an overflow that the scale alone made.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import torch

from trainferry.devices.precision import Precision, half_of
from trainferry.errors import TrainingError
from trainferry.train.data.batch import Batch
from trainferry.train.debug.layers import visit_layers
from trainferry.train.debug.operators import (
    LayerLabels,
    OperatorFinding,
    OperatorSearch,
    is_beyond,
)
from trainferry.train.debug.overflow_report import Overflow, Value, write_report
from trainferry.train.debug.ranks import of_rank
from trainferry.train.debug.repeat import repeat_gradients
from trainferry.train.debug.sights import Sight, Sights
from trainferry.train.journal import Said
from trainferry.train.loop import Tell
from trainferry.train.run import Run


@dataclass(frozen=True)
class Found:
    """The first value of a step beyond its limit, and all values of that step."""

    place: int
    sight: Sight
    largest: float
    values: tuple[Value, ...]


class OverflowObserver:
    """Looks at every step; each place that overflows is examined and reported once.

    A step that would make weights that are not finite is stopped before its update.
    """

    def __init__(self, run: Run, format_: Precision | None, tell: Tell) -> None:
        self._run = run
        self._tell = tell
        self._format: Precision = format_ or run.recipe.precision.name
        self._range = torch.finfo(half_of(self._format) or torch.float32).max
        self._sights = Sights(run.network)
        self._handle = run.optimizer.register_step_pre_hook(lambda *_: self._look())
        self._counts: Counter[Sight] = Counter()
        self._batch: Batch | None = None
        self._position = 0
        self._step = 0
        self._scale = 1.0

    def before_batch(self) -> None:
        """Nothing was computed yet."""

    def before_step(self, batch: Batch) -> None:
        self._batch, self._position = batch, self._run.position
        self._step = self._run.step + 1
        self._scale = self._run.scale.value
        self._sights.clear()
        self._sights.active = True

    def after_step(self) -> None:
        self._look()

    def close(self) -> None:
        self._sights.close()
        self._handle.remove()
        if (times := self._counts.total()) > 1:
            places = ", ".join(f"{sight} ({n})" for sight, n in self._counts.most_common(5))
            text = f"{times} batches left the range of {self._format}: {places}"
            self._tell(Said(self._run.step, text))

    def _look(self) -> None:
        """Judge the step, once: before its update, or after it was left out.

        Ranks decide together: a step is done again by all of them or by none.
        """
        if not self._sights.active:
            return
        self._sights.active = False
        found = self._first_beyond()
        stops = False
        if found is not None:
            self._counts[found.sight] += 1
            stops = not math.isfinite(found.largest) and not self._run.scale.skips_overflows
            if self._counts[found.sight] > 1 and not stops:
                found = None
        if any(self._run.group.gather(found is not None)):
            self._tell_all(found, self._examine(found), stops)

    def _first_beyond(self) -> Found | None:
        seen, largest = list(self._sights.seen), self._sights.largest()
        values = tuple(Value(sight, size) for sight, size in zip(seen, largest, strict=True))
        for place, each in enumerate(values):
            if is_beyond(each.largest, self._limit(each.sight)):
                return Found(place, each.sight, each.largest, values)
        return None

    def _limit(self, sight: Sight) -> float:
        """Weights and their gradients are kept in fp32, and a loss scale blows gradients up."""
        scaled = sight.direction == "backward" and self._scale != 1.0
        return math.inf if scaled or sight.direction == "weight" else self._range

    def _examine(self, found: Found | None) -> tuple[str, str] | None:
        """Do the step again, look closely, and report; without a find for the other ranks' sake.

        Returns what to tell, and what to try.
        """
        operator = self._find_operator(found)
        only_scale = self._is_only_scale(found)
        if found is None:
            return None
        overflow = Overflow(
            step=self._step,
            batch=self._position,
            format=self._format,
            range=self._range,
            loss_scale=self._scale,
            sight=found.sight,
            largest=found.largest,
            operator=operator,
            only_scale=only_scale,
            values=found.values,
        )
        report = write_report(self._run.folder, overflow, of_rank(self._run.group))
        return f"{overflow.sentence()}; see {report}", overflow.advice()

    def _tell_all(self, found: Found | None, told: tuple[str, str] | None, stops: bool) -> None:
        """Tell what any rank found, the earliest first; raise on all if one cannot go on.

        What overflows on one rank reaches the others, through norms or gradients.
        """
        group = self._run.group
        mine = None if found is None or told is None else [found.place, group.rank, *told, stops]
        for _, rank, text, advice, is_last in sorted(filter(None, group.gather(mine))):
            whole = text if group.is_alone else f"rank {rank}: {text}"
            if is_last:
                raise TrainingError(f"{whole}. No update was made with it", hint=advice)
            self._tell(Said(self._step, whole))

    def _find_operator(self, found: Found | None) -> OperatorFinding | None:
        """Look at the operators between the sight before the find and the find itself."""
        if found is None or found.sight.direction == "input":
            self._repeat(self._scale)
            return None
        labels, seen, place = LayerLabels(), self._sights.seen, found.place
        search = OperatorSearch(labels, self._limit(found.sight), lambda: len(seen) == place)
        handles = visit_layers(self._run.network, labels)
        try:
            with search:
                self._repeat(self._scale)
        finally:
            for handle in handles:
                handle.remove()
        return search.found

    def _is_only_scale(self, found: Found | None) -> bool | None:
        """Tell whether all is finite without the loss scale; None if there is none."""
        if self._scale == 1.0:
            return None
        self._repeat(1.0)
        finite = all(map(math.isfinite, self._sights.largest()))
        return finite and found is not None and found.sight.direction in ("backward", "weight")

    def _repeat(self, scale: float) -> None:
        assert self._batch is not None
        self._sights.clear()
        self._sights.active = True
        try:
            repeat_gradients(self._run, self._batch, self._position, scale)
        finally:
            self._sights.active = False
