"""trainferry train --debug one-batch: learn one batch by heart, and say what that tells."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from typing import TYPE_CHECKING

from trainferry.cli.train import take_over_weights

if TYPE_CHECKING:
    import torch

    from trainferry.train.debug.one_batch.verdict import Verdict
    from trainferry.train.recipe.sections import Recipe

_GO_TOGETHER = (
    "Pictures, labels, learning rate and network go together. If a whole run does not learn, look "
    "at how much data it has, how much pictures vary (augment.*), how long it trains, and whether "
    "labels are true: wrong ones are learnt by heart as well."
)


def learn_one_batch(
    arguments: argparse.Namespace, recipe: Recipe, device: torch.device, steps: int
) -> int:
    """Learn the batch and print the verdict; return 0 if it was learnt. Nothing is written."""
    from trainferry.cli.progress import open_show
    from trainferry.train.debug.one_batch.facts import find_facts
    from trainferry.train.debug.one_batch.learn import build_trial, learn_by_heart, read_batch
    from trainferry.train.debug.one_batch.verdict import judge

    run = build_trial(recipe, arguments.data, device, _say, steps)
    if arguments.init_from is not None:
        take_over_weights(arguments, run)
    batch = read_batch(run)
    _say(
        f"learning one batch of {len(batch.valid)} by heart, without variation, at a constant rate "
        f"of {run.recipe.optimizer.learning_rate:.2g}; nothing is written to `{arguments.folder}`"
    )
    with contextlib.closing(open_show(steps)) as show:
        course = learn_by_heart(run, batch, show.write)
    verdict = judge(find_facts(batch, run.source.label_text), course)
    _print(verdict, as_json=arguments.json)
    return 0 if verdict.learnt else 1


def _print(verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(verdict.to_json(), indent=1, ensure_ascii=False))
        return
    print(verdict.text)
    for hint in verdict.hints:
        print(f"\nhint: {hint}")
    if verdict.learnt:
        print(f"\n{_GO_TOGETHER}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
