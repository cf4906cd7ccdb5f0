"""Scores of a saved checkpoint on a set of records, under a named protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from trainferry.devices.device import pinned_memory_helps
from trainferry.train.build import (
    build_task,
    count_workers,
    evaluation_source,
    open_run,
    saved_recipe,
)
from trainferry.train.checkpoint import read_facts
from trainferry.train.data.batches import evaluation_batches
from trainferry.train.evaluate import evaluate
from trainferry.train.score import choose_protocol


@dataclass(frozen=True)
class CheckpointScore:
    """The named scores of a checkpoint, and which mistakes it makes."""

    values: dict[str, float]
    details: dict[str, Any]


def score_checkpoint(
    path: Path,
    data: Path,
    split: str,
    protocol: str,
    device: torch.device,
    overrides: Sequence[str] = (),
) -> CheckpointScore:
    """Score one checkpoint on every sample of a split that the protocol counts."""
    opened = open_run(path, device=device, overrides=overrides)
    source = evaluation_source(opened.recipe, data, split, choose_protocol(protocol))
    batches = evaluation_batches(
        source,
        batch=min(opened.recipe.loop.batch, 256),
        workers=count_workers(opened.recipe),
        pinned=pinned_memory_helps(device),
    )
    task = build_task(opened.recipe, protocol)
    score = evaluate(opened.network, task, batches, opened.recipe.picture, device)
    scores = score.values()
    scores["left_out"] += len(source.records) - len(source)
    scores["unreadable"] += len(source.records.damage)
    return CheckpointScore(scores, score.details())


def passes_over_data(path: Path) -> float | None:
    """Return after how many passes a checkpoint was saved; None if it came from elsewhere."""
    facts = read_facts(path)
    if not facts.get("samples"):
        return None
    batch = saved_recipe(path.parent.parent).loop.batch
    return float(facts["position"] * batch / facts["samples"])
