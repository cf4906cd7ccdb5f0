"""Whether a batch was learnt by heart, and if not, what was seen and what to try."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from trainferry.counted import counted
from trainferry.train.debug.one_batch.facts import BatchFacts
from trainferry.train.debug.one_batch.learn import Course

ENOUGH = 0.95
"""The share of samples that must be right; a few may be beyond any network."""

_MOVES = 0.02  # a loss that changed by less of itself stays where it is
_STANDS_STILL = 1e-3  # of the length of the weights
_LOW = 0.05  # of the first loss
_SHOWN = 3


@dataclass(frozen=True)
class Verdict:
    """What one batch says about a run that does not learn."""

    learnt: bool
    text: str
    hints: tuple[str, ...]
    course: Course
    facts: BatchFacts

    def to_json(self) -> dict[str, Any]:
        """Return all of it; a loss that is no number is null."""
        course = self.course
        return {
            "learnt": self.learnt,
            "verdict": self.text,
            "hints": list(self.hints),
            "steps": course.steps,
            "learning_rate": course.learning_rate,
            "first_loss": _number(course.first_loss),
            "last_loss": _number(course.last_loss),
            "right": course.seen.right,
            "samples": self.facts.rows,
            "weights_moved": _number(course.moved),
            "trained_share": course.trained_share,
            "examples": [asdict(example) for example in course.seen.examples],
            "batch": asdict(self.facts),
        }


def judge(facts: BatchFacts, course: Course) -> Verdict:
    """Say what the way of the loss, the answers and the batch itself mean together."""
    is_finite = math.isfinite(course.last_loss)
    is_right = is_finite and course.seen.right >= ENOUGH * facts.rows
    learnt = is_right and not _has_one_label(facts)
    unlearnt = facts.rows - course.seen.right
    is_explained = is_right or (is_finite and unlearnt <= facts.contradicted)
    hints = [*_of_the_batch(facts), *(() if is_explained else _of_the_course(course))]
    text = (
        f"{'learnt' if learnt else 'not learnt'}: {course.seen.right} of "
        f"{counted(facts.rows, 'sample')} {'is' if facts.rows == 1 else 'are'} "
        f"right after {counted(course.steps, 'step')}, the loss {_way(course)}"
    )
    return Verdict(learnt, text, tuple(hints), course, facts)


def _of_the_batch(facts: BatchFacts) -> Iterator[str]:
    count = len(facts.contradictions)
    if count:
        pairs = "; ".join(
            f"samples {pair.samples[0]} and {pair.samples[1]} are the same picture, labelled "
            f"{pair.labels[0]!r} and {pair.labels[1]!r}"
            for pair in facts.contradictions[:_SHOWN]
        )
        more = f"; and {counted(count - _SHOWN, 'more such pair')}" if count > _SHOWN else ""
        yield f"Labels contradict each other: {pairs}{more}. Correct the labels."
    if facts.empty_labels == facts.rows:
        yield (
            "All labels are empty: there is nothing to learn. Look where the texts of the samples "
            "got lost: `trainferry data unpack` shows pictures and labels."
        )
    elif _has_one_label(facts):
        yield (
            "All samples have the same label: a network that looks at no picture would be right, "
            "too. Check with `trainferry data check` that labels differ; try a larger loop.batch "
            "or another loop.seed."
        )
    if facts.different_samples > 1 and facts.different_pictures == 1:
        yield (
            "All pictures are the same: nothing tells the samples apart. `trainferry data unpack` "
            "shows them as they are in the records."
        )
    elif facts.plain_pictures:
        yield (
            f"{facts.plain_pictures} of {counted(facts.rows, 'picture')} "
            f"{'is' if facts.plain_pictures == 1 else 'are'} of one colour all over: nothing "
            "can be seen there. `trainferry data unpack` shows what is in the records."
        )


def _of_the_course(course: Course) -> Iterator[str]:
    if not math.isfinite(course.last_loss):
        yield _not_finite(course)
        return
    if course.trained_share < 1:
        yield (
            f"Only {course.trained_share:.1%} of the weights are trained (optimizer.trained): the "
            "others must know pictures already. Start from trained weights with --init-from, or "
            "train all with --set optimizer.trained=all."
        )
    rate = f"the learning rate of {course.learning_rate:.2g}"
    if not course.learning_rate:
        yield "The learning rate behind the warm-up is 0: look at the values of `schedule`."
    elif course.moved < _STANDS_STILL:
        yield (
            f"The weights hardly moved, by {course.moved:.1g} of their length: {rate} is too low. "
            "Try one ten times higher; with fp16, look whether steps overflowed."
        )
    elif course.last_loss > (1 + _MOVES) * course.first_loss:
        yield (
            f"The weights moved, and the loss rose: {rate} is too high. Try one three to ten "
            "times lower, or optimizer.clip_norm=5."
        )
    elif course.last_loss > (1 - _MOVES) * course.first_loss:
        yield (
            f"The weights moved, but the loss did not: {rate} may be too high or too low. Try one "
            "three times lower, then one three times higher."
        )
    else:
        yield from _fell(course, rate)


def _not_finite(course: Course) -> str:
    if course.steps <= 1:
        return (
            "The loss was no number before any weight had changed, so it is not the learning "
            "rate. `--debug overflow` names the layer; look at picture.deviation, at the weights "
            "of --init-from, and with fp16 try bf16 or fp32."
        )
    return (
        f"Numbers ran out of range at step {course.steps} with a learning rate of "
        f"{course.learning_rate:.2g}. Try one three to ten times lower or optimizer.clip_norm=5; "
        "with fp16 try bf16 or fp32. `--debug overflow` names the layer."
    )


def _fell(course: Course, rate: str) -> Iterator[str]:
    longer = f"--debug one-batch={3 * course.steps}"
    if course.last_loss < _LOW * course.first_loss and not _is_empty(course):
        yield (
            f"The loss is low, but answers are still wrong: give it more steps ({longer}). If they "
            "stay wrong, look above at what is read: with task.merge_repeated=false letters come "
            "twice, with task.count_nulls=false texts have no end."
        )
    elif course.last_loss < (1 - 5 * _MOVES) * course.middle_loss:
        yield f"The loss was still falling: give it more steps, {longer}."
    else:
        yield (
            f"The loss fell and then stayed: {rate} may be too high or too low. Try one three "
            f"times lower, then one three times higher, then more steps ({longer})."
        )
    if _is_empty(course):
        yield (
            "Nothing is read yet: a network that reads texts answers nothing first, and "
            "characters come later."
        )


def _is_empty(course: Course) -> bool:
    return not any(example.read for example in course.seen.examples)


def _has_one_label(facts: BatchFacts) -> bool:
    return facts.different_samples > 1 and facts.different_labels == 1


def _way(course: Course) -> str:
    first, last = course.first_loss, course.last_loss
    if not math.isfinite(last):
        return f"is {last}"
    if last < (1 - _MOVES) * first:
        return f"fell from {first:.4g} to {last:.4g}"
    if last > (1 + _MOVES) * first:
        return f"rose from {first:.4g} to {last:.4g}"
    return f"stayed at {last:.4g}"


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
