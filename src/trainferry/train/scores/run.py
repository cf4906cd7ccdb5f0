"""Scores of a saved checkpoint on a set of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from trainferry.devices.device import pinned_memory_helps
from trainferry.errors import UsageError
from trainferry.train.build import (
    build_task,
    count_workers,
    evaluation_source,
    open_run,
)
from trainferry.train.checkpoint import read_facts
from trainferry.train.data.batches import Source, evaluation_batches
from trainferry.train.data.photos.records import UNREADABLE
from trainferry.train.data.photos.source import PhotoSource
from trainferry.train.data.signs.source import SignSource
from trainferry.train.data.words.source import WordSource
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import RecogniseRecipe, SpellRecipe
from trainferry.train.run_folder import saved_recipe
from trainferry.train.scores.evaluate import evaluate
from trainferry.train.scores.words import Protocol, choose_protocol


@dataclass(frozen=True)
class CheckpointScore:
    """The named scores of a checkpoint, and which mistakes it makes."""

    values: dict[str, float]
    details: dict[str, Any]


def score_checkpoint(
    path: Path,
    data: Path,
    split: str,
    protocol: str | None,
    device: torch.device,
    overrides: Sequence[str] = (),
) -> CheckpointScore:
    """Score one checkpoint on every sample of a split, of words under a named protocol."""
    opened = open_run(path, device=device, overrides=overrides)
    rule = find_protocol(opened.recipe, protocol)
    name = "exact" if rule is None else rule.name
    source = evaluation_source(opened.recipe, data, split, name)
    batches = evaluation_batches(
        source,
        batch=min(opened.recipe.loop.batch, 256),
        workers=count_workers(opened.recipe),
        pinned=pinned_memory_helps(device),
    )
    score = evaluate(opened.network, build_task(opened.recipe, name), batches, device)
    values = score.values()
    left_out, unreadable = _not_in(source)
    values["left_out"] = values.get("left_out", 0.0) + left_out
    values["unreadable"] += unreadable
    return CheckpointScore(values, score.details())


def find_protocol(recipe: Recipe, asked: str | None) -> Protocol | None:
    """Return how words are scored, as asked or as usual; photographs have no protocol."""
    if isinstance(recipe.task, RecogniseRecipe):
        return choose_protocol(asked or _usual_protocol(recipe.task.alphabet))
    if isinstance(recipe.task, SpellRecipe):
        return choose_protocol(asked or "exact")
    if asked is not None:
        raise UsageError(
            f"the protocol `{asked}` is for words, and this run names photographs",
            hint="leave --protocol out: every photograph counts, by top-1 and top-5",
        )
    return None


def _usual_protocol(alphabet: str) -> str:
    """What most figures for scene text follow; it would leave out words of other scripts."""
    return "alnum36" if alphabet.isascii() else "exact"


def passes_over_data(path: Path) -> float | None:
    """Return after how many passes a checkpoint was saved; None if it came from elsewhere."""
    facts = read_facts(path)
    if not facts.get("samples"):
        return None
    batch = saved_recipe(path.parent.parent).loop.batch
    return float(facts["position"] * batch / facts["samples"])


def _not_in(source: Source) -> tuple[int, int]:
    """Return how many samples of the records are left out of a source, and unreadable."""
    if isinstance(source, WordSource):
        return len(source.records) - len(source), len(source.records.damage)
    if isinstance(source, PhotoSource):
        unreadable = int((source.records.labels() == UNREADABLE).sum())
        left_out = len(source.records) - len(source) - unreadable
        return left_out, unreadable + len(source.records.damage)
    if isinstance(source, SignSource):
        return 0, len(source.records.damage)
    return 0, 0
