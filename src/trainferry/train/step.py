"""One step of a run: forward, loss, backward, update."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import torch
from torch import Tensor

from trainferry.devices.capture import capture
from trainferry.devices.device import seed_device
from trainferry.devices.precision import autocast
from trainferry.train.data.batch import Batch
from trainferry.train.optimizer import clip_gradients, set_learning_rate
from trainferry.train.run import Run
from trainferry.train.schedule import learning_rate, peak_rate
from trainferry.train.sender import Sender
from trainferry.train.whole_step import WholeStep


@dataclass(frozen=True)
class StepResult:
    """What one batch gave, still on the device."""

    loss: Tensor
    logits: Tensor
    updated: bool
    skipped: int


def train_step(run: Run, batch: Batch) -> StepResult:
    """One forward, one backward, one update; no update if the gradients overflowed.

    With `loop.whole_step` a run that captures does this as one piece of work on its device, and
    hears of overflows only at steps at which somebody looks: until then all count as updates.
    """
    seed_device(step_seed(run.recipe.loop.seed, run.position), run.device)
    run.position += 1
    if run.sender is None:
        run.sender = Sender(run.device)
    there = run.sender(batch)
    result = _take(run, there, int(batch.skipped))
    run.sender.mark()
    return result


def _take(run: Run, there: Batch, skipped: int) -> StepResult:
    if run.captures and run.recipe.loop.whole_step and run.group.is_alone:
        return _whole_step(run, there, skipped)
    run.optimizer.zero_grad(set_to_none=True)
    statistics = _statistics(run) if run.scale.skips_overflows else {}
    loss, logits = compute_gradients(run, there)
    if run.scale.skips_overflows:
        finite = bool(run.scale.unscale(run.network.parameters()))
        run.scale.update(finite)
        if not finite:
            run.network.load_state_dict(statistics, strict=False)
            return StepResult(loss, logits, updated=False, skipped=skipped)
    _update(run)
    return StepResult(loss, logits, updated=True, skipped=skipped)


def _whole_step(run: Run, batch: Batch, skipped: int) -> StepResult:
    if run.whole is None:
        run.whole = WholeStep(run)
    inputs, varied = run.task.vary(batch)
    loss, logits = run.whole((inputs, *run.task.hints(varied)), varied)
    run.step += 1
    counted = run.step
    if _is_looked_at(run):
        run.settle()
    return StepResult(loss, logits, updated=run.step == counted, skipped=skipped)


def _is_looked_at(run: Run) -> bool:
    loop = run.recipe.loop
    periods = (loop.log_every, loop.evaluate_every, loop.save_every)
    return run.step == run.recipe.schedule.steps or any(run.step % each == 0 for each in periods)


def compute_gradients(run: Run, batch: Batch) -> tuple[Tensor, Tensor]:
    """Add up the gradients of the mean loss of the batch, part by part."""
    parts = batch.split(run.recipe.optimizer.accumulation)
    total = torch.zeros((), device=run.device)
    logits = torch.empty(0)
    for number, part in enumerate(parts):
        if number:
            _seed(run, number)
        inputs, varied = run.task.vary(part)
        if not run.group.is_alone:
            _seed(run, number, run.group.rank)  # ranks must not drop the same features
        if run.gradients is not None and part is parts[-1]:
            run.gradients.begin()
        told = (inputs, *run.task.hints(varied))
        if run.captures and not run.is_captured:
            capture(run.network, [part.clone() for part in told], run.recipe.precision.name)
            run.is_captured = True
        with autocast(run.device, run.recipe.precision.name):
            logits = run.network(*told)
        loss = run.task.losses(logits, varied).mean() / len(parts)
        run.scale.scale(loss).backward()
        total = total + loss.detach()
    if run.gradients is not None:
        run.gradients.finish()
    return total, logits.detach()


def _statistics(run: Run) -> dict[str, Tensor]:
    """Keep what the forward pass changes: one overflow would stay in a moving average forever."""
    return {name: buffer.clone() for name, buffer in run.network.named_buffers()}


def _update(run: Run) -> None:
    recipe = run.recipe
    if recipe.optimizer.clip_norm:
        clip_gradients(run.network, recipe.optimizer)
    rate = learning_rate(recipe.schedule, peak_rate(recipe), run.step)
    set_learning_rate(run.optimizer, rate)
    run.optimizer.step()
    run.step += 1
    if run.average is not None:
        run.average.update(run.step)


def _seed(run: Run, *more: int) -> None:
    seed_device(step_seed(run.recipe.loop.seed, run.position, *more), run.device)


def step_seed(seed: int, position: int, *more: int) -> int:
    """Every batch has its own random numbers, so a run can start at any of them.

    `more` is the part of the batch, and the rank where ranks must differ.
    """
    words = " ".join(map(str, (seed, position, *more)))
    digest = hashlib.blake2b(words.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
