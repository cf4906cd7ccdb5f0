"""The training loop: one for all networks and devices. Time is counted in updates."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext

from trainferry.errors import TrainingError
from trainferry.train.checkpoint import (
    Checkpoint,
    find_checkpoint,
    forget_old_checkpoints,
    list_checkpoints,
    load_checkpoint,
    save_checkpoint,
)
from trainferry.train.debug.observer import NOBODY, Observer
from trainferry.train.journal import Ended, Evaluated, Event, Logged, Said, Saved
from trainferry.train.ranks import (
    check_same_weights,
    share_checkpoint,
    share_statistics,
    sum_of,
)
from trainferry.train.run import Run
from trainferry.train.schedule import learning_rate, peak_rate
from trainferry.train.scores.evaluate import evaluate_together
from trainferry.train.step import StepResult, train_step
from trainferry.train.tasks.task import Snapshot
from trainferry.train.watch import Watch

RECORDING = (
    "compiling kernels and recording the step; up to a minute the first time, seconds from then on"
)

Tell = Callable[[Event], None]
WhyStop = Callable[[int], str | None]


def resume(run: Run) -> bool:
    """Take the run to its newest checkpoint, if it has one; of several ranks, all to the same."""
    checkpoint = share_checkpoint(run.group, lambda: _newest(run))
    if checkpoint is None:
        return False
    run.restore(checkpoint)
    return True


def _newest(run: Run) -> Checkpoint | None:
    if not list_checkpoints(run.folder):
        return None
    return load_checkpoint(find_checkpoint(run.folder, "last"))


def _never(_position: int) -> str | None:
    return None


def train(run: Run, tell: Tell, observer: Observer = NOBODY, why_stop: WhyStop = _never) -> Ended:
    """Train to the last step, or until the validation score stops rising.

    Ranks train alike and save nothing but on rank 0. `why_stop` is asked before every batch.
    """
    loop, steps = run.recipe.loop, run.recipe.schedule.steps
    run.network.train()
    watch = Watch(run)
    batches = run.training_batches()
    unsaved: StepResult | None = None
    saved = run.step
    if run.captures and run.step < steps:
        tell(Said(run.step, RECORDING))
    while run.step < steps and not stops(run):
        if (reason := why_stop(run.position)) is not None:
            run.settle()
            if unsaved is not None and run.step > saved:
                _save(run, watch, unsaved, None, tell)
            return _end(run, watch, reason, tell)
        watch.before_batch()
        observer.before_batch()
        batch = next(batches)
        watch.after_batch()
        observer.before_step(batch)
        result = train_step(run, batch)
        observer.after_step()
        watch.count(skipped=result.skipped)
        if not result.updated:
            continue
        unsaved = result
        last = run.step == steps
        if run.step % loop.log_every == 0 or last:
            _log(run, watch, result, tell)
        scores = None
        if run.validation is not None and (run.step % loop.evaluate_every == 0 or last):
            _check_finite(run, result)
            scores = _evaluate(run, tell)
        if run.step % loop.save_every == 0 or last or run.best_step == run.step or stops(run):
            _save(run, watch, result, scores, tell)
            unsaved, saved = None, run.step
    return _end(run, watch, stops(run) or "all steps done", tell)


def stops(run: Run) -> str | None:
    """Say why training ends before its last step: the score is reached, or no longer rises."""
    loop = run.recipe.loop
    if loop.stop_at_score and run.best_score is not None and run.best_score >= loop.stop_at_score:
        return f"the score reached {loop.stop_at_score:g}"
    if loop.patience and run.evaluations_since_best >= loop.patience:
        return f"no better score in {loop.patience} evaluations"
    return None


def _log(run: Run, watch: Watch, result: StepResult, tell: Tell) -> None:
    loss = _finite_loss(run, result)  # reading it waits for the device: log steps only
    seconds = max(time.monotonic() - watch.since, 1e-9)
    tell(
        Logged(
            step=run.step,
            loss=loss,
            learning_rate=learning_rate(run.recipe.schedule, peak_rate(run.recipe), run.step - 1),
            images_per_second=watch.batches * run.recipe.loop.batch / seconds,
            waiting_share=watch.waited / seconds,
            seconds_left=watch.seconds_per_step() * (run.recipe.schedule.steps - run.step),
            loss_scale=run.scale.value,
            overflows=run.scale.overflows,
            skipped=int(sum_of(run.group, watch.skipped)),
        )
    )
    watch.recent.append(run.task.snapshot(run.step, loss, result.logits))
    advice = run.task.diagnose(tuple(watch.recent))
    if advice is not None and watch.said is None:
        tell(Said(run.step, advice))
    watch.said = advice
    watch.restart()


def _evaluate(run: Run, tell: Tell) -> dict[str, float]:
    share_statistics(run)
    with run.average.in_force() if run.average is not None else nullcontext():
        found = evaluate_together(run)
    scores, value = found.values, found.values[found.primary]
    better = run.best_score is None or value > run.best_score
    run.evaluations_since_best = 0 if better else run.evaluations_since_best + 1
    if better or value == run.best_score:  # of equals the last: it was trained longest
        run.best_score, run.best_step = value, run.step
    tell(Evaluated(run.step, scores, better, found.examples))
    return scores


def _save(
    run: Run, watch: Watch, result: StepResult, scores: dict[str, float] | None, tell: Tell
) -> None:
    _check_finite(run, result)
    check_same_weights(run)
    watch.tick()
    if run.group.is_first:
        path = save_checkpoint(run.folder, run.state(scores))
        forget_old_checkpoints(run.folder, run.recipe.loop.keep, run.best_step)
        tell(Saved(run.step, str(path)))
    watch.restart()


def _check_finite(run: Run, result: StepResult) -> None:
    """Look at the weights too: the loss of a step tells nothing of what its update made."""
    _finite_loss(run, result)
    if not all(bool(value.isfinite().all()) for value in run.network.state_dict().values()):
        raise _not_finite(run, math.nan, "weights that are not finite numbers came out of")


def _finite_loss(run: Run, result: StepResult) -> float:
    loss = sum_of(run.group, float(result.loss)) / run.group.ranks
    if not math.isfinite(loss):
        raise _not_finite(run, loss, f"the loss is {loss} at")
    return loss


def _not_finite(run: Run, loss: float, what: str) -> TrainingError:
    advice = run.task.diagnose((Snapshot(run.step, loss, 0.0, 1.0),))
    return TrainingError(
        f"{what} step {run.step}; nothing was saved since the last checkpoint",
        hint=advice or "try a lower learning rate",
    )


def _end(run: Run, watch: Watch, reason: str, tell: Tell) -> Ended:
    run.group.wait_for_all()
    watch.tick()
    ended = Ended(run.step, reason, round(run.seconds, 3))
    tell(ended)
    return ended
