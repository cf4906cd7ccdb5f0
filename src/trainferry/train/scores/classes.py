"""How well photographs are named: sums over samples that are divided once, and the mistakes.

Shapes: B samples, K classes of the network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from trainferry.train.scores.class_counts import ClassCounts
from trainferry.train.tasks.task import Example

if TYPE_CHECKING:
    from torch import Tensor

    from trainferry.train.data.batch import Batch
    from trainferry.train.tasks.classify import Classify

EXAMPLES = 8
LARGEST_MATRIX = 200
"""The most classes whose confusion matrix is told in full; of more, only what occurs."""

_SUMS = ("samples", "right", "right_in_five", "loss", "unreadable")


@dataclass
class ClassScore:
    """Counts what was answered and keeps a few samples, mistakes first.

    `state` tells the sums and the counts of every class; which class was taken for which is
    known for what this score has seen or merged.
    """

    task: Classify
    samples: float = 0.0
    right: float = 0.0
    right_in_five: float = 0.0
    loss: float = 0.0
    unreadable: float = 0.0
    counts: ClassCounts = field(init=False)
    _taken_for: Counter[tuple[int, int]] = field(default_factory=Counter, init=False)
    _mistakes: list[Example] = field(default_factory=list, init=False)
    _hits: list[Example] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.counts = ClassCounts.none(self.task.outputs)

    @property
    def primary(self) -> str:
        return "top1"

    def add(self, logits: Tensor, batch: Batch) -> None:
        with torch.no_grad():
            scores = logits.float()
            losses = self.task.losses(scores, batch)
            confidences, answers = torch.softmax(scores, 1).max(1)
            five = in_top(scores, batch.labels, 5)
        valid = batch.valid.cpu().numpy()
        truths = batch.labels.cpu().numpy()[valid]
        answered = answers.cpu().numpy()[valid]
        right = (truths == answered) & scores.isfinite().all(1).cpu().numpy()[valid]

        self.samples += len(truths)
        self.right += int(right.sum())
        self.right_in_five += int(five.cpu().numpy()[valid].sum())
        self.loss += float(losses.cpu().numpy()[valid].astype(np.float64).sum())
        self.unreadable += int(batch.skipped)
        self.counts += ClassCounts.count(truths, answered, right, self.task.outputs)
        self._taken_for.update(zip(truths[~right].tolist(), answered[~right].tolist(), strict=True))
        self._keep_examples(
            batch.positions.cpu().numpy()[valid],
            truths,
            answered,
            confidences.cpu().numpy()[valid],
        )

    def merge(self, other: Self) -> None:
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.counts += other.counts
        self._taken_for.update(other._taken_for)
        self._mistakes = _first(self._mistakes + other._mistakes)
        self._hits = _first(self._hits + other._hits)

    def state(self) -> dict[str, float]:
        return {
            **{name: float(getattr(self, name)) for name in _SUMS},
            **{
                f"{name}/{each}": float(times)
                for name, counted in vars(self.counts).items()
                for each, times in enumerate(counted)
            },
        }

    def load_state(self, state: Mapping[str, float]) -> None:
        """Take over sums; examples and confusions stay those of this process."""
        for name in _SUMS:
            setattr(self, name, state[name])
        classes = range(self.task.outputs)
        self.counts = ClassCounts(
            **{
                name: np.array([state[f"{name}/{each}"] for each in classes], np.int64)
                for name in vars(self.counts)
            }
        )

    def values(self) -> dict[str, float]:
        """Return the shares named right, averages over classes, the mean loss, and the counts.

        Without samples the scores are 0. The background has none, and is not counted as a class
        without samples.
        """
        divisor = max(self.samples, 1.0)
        return {
            "top1": self.right / divisor,
            "top5": self.right_in_five / divisor,
            **self.counts.averages(),
            "loss": self.loss / divisor,
            "samples": self.samples,
            "unreadable": self.unreadable,
            "classes_never_named": float(self.counts.never_named().sum()),
            "classes_without_samples": float(
                (self.counts.samples[int(self.task.background) :] == 0).sum()
            ),
        }

    def examples(self) -> list[Example]:
        return (self._mistakes + self._hits)[:EXAMPLES]

    def details(self) -> dict[str, Any]:
        """Return each class with its scores, the confused pairs, and the confusion matrix.

        Rows of the matrix are the truth. Pairs and matrix are left out, as None, where they are
        not known for all samples, and the matrix of many classes, which `confused` tells.
        """
        known = sum(self._taken_for.values()) == (self.counts.samples - self.counts.right).sum()
        is_small = self.task.outputs <= LARGEST_MATRIX
        return {
            "classes": self._class_rows(known),
            "confused": self._confused() if known else None,
            "matrix": self.matrix().tolist() if known and is_small else None,
        }

    def matrix(self) -> NDArray[np.int64]:
        """Return how often a class (row) was answered with a class (column), K K."""
        matrix = np.diag(self.counts.right)
        for (truth, answer), times in self._taken_for.items():
            matrix[truth, answer] += times
        return matrix

    def _class_rows(self, known: bool) -> list[dict[str, Any]]:
        commonest: dict[int, tuple[str, int]] = {}
        for (truth, answer), times in _ranked(self._taken_for) if known else ():
            commonest.setdefault(truth, (self.task.names[answer], times))
        rows = []
        for each, scored in enumerate(self.counts.rows()):
            label, name = each + self.task.first_label, self.task.names[each]
            taken_for, times = commonest.get(each, (None, 0))
            about = {"taken_for": taken_for, "times": times}
            rows.append({"label": label, "name": name, **scored, **about})
        return rows

    def _confused(self) -> list[dict[str, Any]]:
        return [
            {
                "truth": self.task.names[truth],
                "read": self.task.names[answer],
                "times": times,
                "truth_label": truth + self.task.first_label,
                "read_label": answer + self.task.first_label,
            }
            for (truth, answer), times in _ranked(self._taken_for)
        ]

    def _keep_examples(
        self,
        positions: NDArray[np.int64],
        truths: NDArray[np.int64],
        answers: NDArray[np.int64],
        confidences: NDArray[np.float32],
    ) -> None:
        for kept, rows in (
            (self._mistakes, np.flatnonzero(truths != answers)),
            (self._hits, np.flatnonzero(truths == answers)),
        ):
            kept.extend(
                Example(
                    int(positions[row]),
                    self.task.names[truths[row]],
                    self.task.names[answers[row]],
                    float(confidences[row]),
                )
                for row in rows[: EXAMPLES - len(kept)]
            )


def in_top(scores: Tensor, labels: Tensor, count: int) -> Tensor:
    """Tell whether each label is among the `count` best, B, as TensorFlow's `in_top_k` does.

    Of equal scores that straddle the limit all are in; no label is where a score is not finite.
    """
    own = scores.gather(1, labels[:, None])
    return ((scores > own).sum(1) < count) & scores.isfinite().all(1)


def _ranked(pairs: Counter[tuple[int, int]]) -> list[tuple[tuple[int, int], int]]:
    """Return the most frequent pairs first, equally frequent ones in the order of the classes."""
    return sorted(pairs.items(), key=lambda entry: (-entry[1], entry[0]))


def _first(examples: list[Example]) -> list[Example]:
    return sorted(examples, key=lambda example: example.position)[:EXAMPLES]
