"""What ranks do in the tests, all in one start: `python -m tests.train.rank_jobs FOLDER`.

Each job is a function of the group and the folder with the data; what it returns is written as
JSON, by every rank. The tests run the same jobs in one process and compare.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.train.cases import CASES, TinyCase
from trainferry.devices.collectives import Group
from trainferry.devices.joining import join
from trainferry.devices.place import find_place
from trainferry.train.averaging import WeightAverage
from trainferry.train.build import build_run
from trainferry.train.data.batch import Batch
from trainferry.train.gradients import GradientMean
from trainferry.train.journal import Evaluated, Event, Logged
from trainferry.train.loop import resume, train
from trainferry.train.networks.layers import DebiasedNorm
from trainferry.train.networks.view_norm import ViewNorm
from trainferry.train.norms import synchronise_norms
from trainferry.train.run import Run
from trainferry.train.step import step_seed, train_step

CPU = torch.device("cpu")
STEPS = 6
EACH = {case.name: case for case in CASES if case.name in ("crnn", "resnet", "attention_ocr")}
SAME = (
    "loop.batch=12",
    "loop.log_every=1",
    "loop.norms=synchronised",
    "loop.evaluate_every=3",
    "loop.save_every=3",
    f"schedule.steps={STEPS}",
    "optimizer.learning_rate=0.002",
)
VARIED = {
    "crnn": ("augment.geometry=1", "augment.colour=1", "augment.blur=1", "augment.noise=1"),
    "resnet": ("augment.operations=2", "augment.erasing=0.5"),
    "attention_ocr": ("augment.crop=1", "augment.colour=1", "augment.noise=0.5"),
}
PARTS = ("optimizer.accumulation=2", "loop.batch=24", "loop.average=0.9")

Job = Callable[[Group, Path], Any]


def build(case: TinyCase, group: Group, folder: Path, name: str, *sets: str) -> Run:
    without_dropout = ("network.dropout=0",) if case.name == "crnn" else ()
    recipe = case.recipe(*SAME, *without_dropout, *sets)
    ranks = f"{name}-{group.ranks}"
    run = build_run(recipe, folder / case.name, folder / ranks, CPU, _quiet, group)
    return in_double_precision(run)


def in_double_precision(run: Run) -> Run:
    """Tiny networks normalise a dozen values: in fp32, rounding alone takes their losses apart."""
    run.network.double().register_forward_pre_hook(
        lambda _, inputs: (inputs[0].double(), *inputs[1:])
    )
    if run.average is not None:
        run.average = WeightAverage(run.network, run.average.decay)
    losses = run.task.losses
    object.__setattr__(run.task, "losses", lambda *given: losses(*given).double())
    return run


def trained(run: Run) -> dict[str, Any]:
    events: list[Event] = []
    train(run, events.append)
    scores = [event for event in events if isinstance(event, Evaluated)]
    return {
        "losses": [event.loss for event in events if isinstance(event, Logged)],
        "scores": [dict(event.scores) for event in scores],
        "examples": [[asdict(example) for example in event.examples] for event in scores],
        "best": [run.best_score, run.best_step],
    }


def every_network(group: Group, folder: Path) -> dict[str, Any]:
    return {name: trained(build(case, group, folder, name)) for name, case in EACH.items()}


def varied_pictures(group: Group, folder: Path) -> dict[str, Any]:
    """Variation on the device, in two parts, with averaged weights."""
    return {
        name: trained(build(EACH[name], group, folder, f"varied-{name}", *sets, *PARTS))["losses"]
        for name, sets in VARIED.items()
    }


def local_norms(group: Group, folder: Path) -> dict[str, Any]:
    """Statistics of each rank's own samples: those of rank 0 are scored, everywhere."""
    run = build(EACH["resnet"], group, folder, "local", "loop.norms=local", "loop.average=0.5")
    batches = run.training_batches()
    for _ in range(2):
        train_step(run, next(batches))
    own = float(run.network.state_dict()[_a_statistic(run)].sum())
    run.step, run.position = 0, 0
    found = trained(run)
    return {"own": own, "scores": found["scores"], "examples": found["examples"]}


def only_the_head(group: Group, folder: Path) -> list[float]:
    run = build(EACH["resnet"], group, folder, "head", "optimizer.trained=head")
    return list(trained(run)["losses"])


def one_rank_overflows(group: Group, folder: Path) -> dict[str, Any]:
    """Only the last rank's loss is infinite at the second batch."""
    run = build(
        EACH["crnn"],
        group,
        folder,
        "overflow",
        "precision.name=fp16",
        "precision.loss_scale=dynamic",
        "precision.initial_scale=8",
    )
    run.recipe = _in_fp32(run.recipe)
    losses = run.task.losses

    def sometimes_infinite(logits: Tensor, batch: Batch) -> Tensor:
        bad = run.position == 2 and run.group.rank == run.group.ranks - 1
        return losses(logits, batch) * (float("inf") if bad else 1.0)

    object.__setattr__(run.task, "losses", sometimes_infinite)
    batches = run.training_batches()
    updated = [train_step(run, next(batches)).updated for _ in range(4)]
    weights = [float(weight.detach().double().sum()) for weight in run.network.parameters()]
    return {"updated": updated, "weights": weights, "overflows": run.scale.overflows}


def random_numbers(group: Group, folder: Path) -> list[int]:
    del folder
    return [step_seed(0, 1, 0, group.rank), step_seed(0, 1)]


def norm_gradients(group: Group, folder: Path) -> dict[str, float]:
    """The largest difference to the norm of the whole batch, in double precision."""
    del folder
    return {
        "plain": _norm_difference(group, lambda: nn.BatchNorm2d(3, 1e-3, 0.1), views=1),
        "debiased": _norm_difference(group, lambda: DebiasedNorm(3, 1e-3, 0.9), views=1),
        "views": _norm_difference(group, lambda: _view_norm(2), views=2),
    }


def gradient_mean(group: Group, folder: Path) -> list[float]:
    """Buckets of two weights, one of them never used, and gradients that add up."""
    del folder
    torch.manual_seed(0)
    network = nn.ModuleList([nn.Linear(3, 2, bias=False) for _ in range(5)])
    mean = GradientMean(network, group, bucket_bytes=50)
    for part in range(2):
        if part == 1:
            mean.begin()
        rows = torch.full((1, 3), float(group.rank + part))
        torch.stack([layer(rows).sum() for layer in list(network)[1:]]).sum().backward()
    mean.finish()
    return [
        -1.0 if weight.grad is None else float(weight.grad.mean())
        for weight in network.parameters()
    ]


def goes_on(group: Group, folder: Path) -> dict[str, Any]:
    """Stop behind the first checkpoint; then go on from it."""
    first = build(EACH["crnn"], group, folder, "elastic")
    train(first, _quiet, why_stop=lambda position: "enough" if position == 4 else None)
    again = build(EACH["crnn"], group, folder, "elastic")
    found = resume(again)
    return {"found": found, "from": again.step, **trained(again)}


JOBS: dict[str, Job] = {
    job.__name__: job
    for job in (
        every_network,
        varied_pictures,
        local_norms,
        only_the_head,
        one_rank_overflows,
        random_numbers,
        norm_gradients,
        gradient_mean,
        goes_on,
    )
}


def make_data(folder: Path) -> Path:
    for name, case in EACH.items():
        case.make_data(folder / name)
    return folder


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    with join(find_place(), CPU) as group:
        results = {name: job(group, folder) for name, job in JOBS.items()}
    (folder / f"results-{group.ranks}-{group.rank}.json").write_text(json.dumps(results))


def _quiet(_told: object) -> None:
    """Nobody listens."""


def _a_statistic(run: Run) -> str:
    return next(name for name in run.network.state_dict() if name.endswith("running_mean"))


def _in_fp32(recipe: Any) -> Any:
    """Keep the loss scale without the rounding of fp16."""
    import dataclasses

    return dataclasses.replace(recipe, precision=dataclasses.replace(recipe.precision, name="fp32"))


def _view_norm(views: int) -> ViewNorm:
    norm = ViewNorm(3, views)
    norm.seen = torch.zeros(2, views, 3, dtype=torch.float64)
    return norm


def _norm_difference(group: Group, make: Callable[[], nn.Module], views: int) -> float:
    """Compare with the plain norm that sees the rows of all ranks, view by view."""
    torch.manual_seed(1)
    rows = 4
    whole = torch.randn(views, rows * group.ranks, 3, 2, 5, dtype=torch.float64) * 3 + 1
    factors = torch.randn(whole.shape, dtype=torch.float64)
    weights = torch.randn(3, dtype=torch.float64)
    alone, together = make().double(), make().double()
    for norm in (alone, together):
        with torch.no_grad():
            for name, weight in norm.named_parameters():
                weight.copy_(weights if name == "bias" else weights + 2)
    holder = nn.Sequential(together)
    if not group.is_alone:
        synchronise_norms(holder, group)
    own = whole.unflatten(1, (group.ranks, rows))[:, group.rank]
    inputs = whole.flatten(0, 1).requires_grad_(), own.flatten(0, 1).clone().requires_grad_()
    outputs = alone(inputs[0]), holder(inputs[1])
    (outputs[0] * factors.flatten(0, 1)).sum().backward()
    own_factors = factors.unflatten(1, (group.ranks, rows))[:, group.rank]
    (outputs[1] * own_factors.flatten(0, 1)).sum().backward()

    assert inputs[0].grad is not None
    assert inputs[1].grad is not None
    wanted = inputs[0].grad.unflatten(0, (views, group.ranks, rows))[:, group.rank]
    differences = [(inputs[1].grad - wanted.flatten(0, 1)).abs().max()]
    for theirs, ours in zip(alone.parameters(), holder.parameters(), strict=True):
        assert ours.grad is not None
        assert theirs.grad is not None
        group.sum(ours.grad)
        differences.append((ours.grad - theirs.grad).abs().max())
    states = alone.state_dict().values(), holder[0].state_dict().values()
    differences += [(a - b).abs().max() for a, b in zip(*states, strict=True)]
    return max(float(each) for each in differences)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
