"""Where does a training step from record files lose time against one on made-up data?

    python benchmarks/step_times.py attention_ocr_signs --data FOLDER --steps 100

Trains the recipe in several ways, which differ in one thing each, and prints milliseconds a step:
by the clock; of the device; and of the program, by what it does. All but the first are one run,
whose step is recorded once.

    made up       batches that lie ready in pinned memory, as `trainferry benchmark` has them
    same run      the same batches, in the run that is to train from records
    pinned anew   the same, copied into pinned memory by a thread, as those of records are
    beside        the same as `same run`, while as many processes read as a run has
    kept          a few batches of records, read before: their pictures, and no readers
    records       as `trainferry train` does
    one thread    the same, with one thread for the operators of the program
    not varied    the same, without the variation of pictures
    waited for    the same, waiting for the device after each step: nothing overlaps

Where `records` is as long as `waited for`, something in between waits for the device. Where copying
a batch takes as long as a step, memory is what is slow, and the second table tells which: there a
batch is copied alone. Where the recorded part takes longer than in `made up`, something disturbs
the device; where it does not, the device waits for the program, and its parts tell for what.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count, cycle, islice, pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from trainferry.devices.capture import Recorded
from trainferry.devices.device import (
    choose_device,
    describe_device,
    pinned_memory_helps,
    synchronize,
)
from trainferry.train import sender, step, whole_step
from trainferry.train.benchmark import synthetic_batches
from trainferry.train.build import build_run, synthetic_run
from trainferry.train.data.ahead import make_ahead
from trainferry.train.data.batch import Batch
from trainferry.train.data.batches import Source, stream_places
from trainferry.train.recipe.read import read_recipe
from trainferry.train.run import Run

KEPT = 8  # batches of records that lie ready
PINNED = 2  # that a thread pins ahead
COPIES = 20
# What the program does in a step, each part less what it calls of the others.
PARTS: dict[str, tuple[Any, str]] = {
    "send": (sender.Sender, "__call__"),
    "whole step": (whole_step.WholeStep, "__call__"),
    "put batch in place": (whole_step.WholeStep, "_place"),
    "replay": (Recorded, "__call__"),
    "seed": (step, "seed_device"),
}


class Clock:
    """Adds up the time of parts that may lie inside each other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner = [0.0]

    def timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def work_by_the_clock(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
            began = time.perf_counter()
            self._inner.append(0.0)
            try:
                return work(*arguments, **options)
            finally:
                whole = time.perf_counter() - began
                self.seconds[name] += whole - self._inner.pop()
                self._inner[-1] += whole

        return work_by_the_clock

    def watch(self, device: torch.device) -> None:
        """Time the parts of a step from now on."""
        parts = dict(PARTS)
        if device.type != "cpu":
            parts["wait for the device"] = torch.get_device_module(device).Event, "synchronize"
        for name, (owner, method) in parts.items():
            setattr(owner, method, self.timed(name, getattr(owner, method)))


@dataclass(frozen=True)
class Measure:
    """How steps are measured: with which clock, and how many."""

    clock: Clock
    warm_up: int
    steps: int

    def __call__(self, run: Run, batches: Iterator[Batch], *, waits: bool = False) -> Figures:
        """Return milliseconds a step, and then what the system did to the program in one."""
        clock, device, task = self.clock, run.device, type(run.task)
        copies: list[Span] = []
        replays: list[Span] = []
        run.network.train()
        following = clock.timed("wait for data", lambda: next(batches))
        train = clock.timed("the rest", step.train_step)
        with (
            patch.object(task, "vary", clock.timed("vary", task.vary)),
            patch.object(Batch, "to", _marked(Batch.to, device, copies)),
            patch.object(Recorded, "__call__", _marked(Recorded.__call__, device, replays)),
        ):
            for _ in range(self.warm_up):
                train(run, following())
            synchronize(device)
            for each in (clock.seconds, copies, replays):
                each.clear()
            before, began = _of_system(), time.perf_counter()
            marks = [_mark(device)]
            for _ in range(self.steps):
                train(run, following())
                marks.append(_mark(device))
                if waits:
                    synchronize(device)
            synchronize(device)
            seconds, after = time.perf_counter() - began, _of_system()
        run.settle()
        of_program = {name: 1000 * value / self.steps for name, value in clock.seconds.items()}
        of_system = {name: (after[name] - value) / self.steps for name, value in before.items()}
        return {
            "by the clock": 1000 * seconds / self.steps,
            **_of_device(marks, copies, replays),
            **of_program,
            **of_system,
        }


Figures = dict[str, float]
Span = tuple[Any, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("recipe")
    parser.add_argument("--data", type=Path, required=True, help="record files to train on")
    parser.add_argument("--steps", type=int, default=100, help="of each way, after the warm-up")
    parser.add_argument("--warm-up", type=int, default=20)
    parser.add_argument("--only", nargs="+", help="names of the ways; default: all")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--set", action="append", default=[], help="override a recipe value")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    device = choose_device(arguments.device)
    recipe = read_recipe(arguments.recipe, arguments.set)
    measure = Measure(Clock(), arguments.warm_up, arguments.steps)
    measure.clock.watch(device)
    made_up, _ = synthetic_run(recipe, device, samples=4 * recipe.loop.batch)
    ready = synthetic_batches(made_up, pinned=pinned_memory_helps(device))
    found: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as folder:
        run = build_run(recipe, arguments.data, Path(folder) / "run", device, say=tell)
        ways: dict[str, Callable[[], Figures]] = {
            "made up": lambda: measure(made_up, cycle(ready)),
            **ways_of(run, ready, measure),
        }
        for name in arguments.only or ways:
            tell(name)
            found[name] = ways[name]()
        copied = time_copies(run, ready[0]) if device.type != "cpu" else {}
    print(describe_device(device))
    show(found)
    show_copies(copied)
    if arguments.json:
        facts = {"steps": found, "copies": copied}
        arguments.json.write_text(json.dumps(facts, indent=1), encoding="utf-8")
    return 0


def ways_of(run: Run, ready: Sequence[Batch], measure: Measure) -> dict[str, Callable[[], Figures]]:
    def pinned_anew() -> Figures:
        with ended(make_ahead(cycle(map(_unpinned, ready)), _pinner(run), PINNED)) as batches:
            return measure(run, batches)

    def beside() -> Figures:
        with busy_readers(run):
            return measure(run, cycle(ready))

    def kept() -> Figures:
        with ended(run.training_batches()) as batches:
            some = list(islice(batches, KEPT))
        return measure(run, cycle(some))

    def records(*, waits: bool = False) -> Figures:
        with ended(run.training_batches()) as batches:
            return measure(run, batches, waits=waits)

    def one_thread() -> Figures:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return records()
        finally:
            torch.set_num_threads(threads)

    def not_varied() -> Figures:
        def plain(task: Any, batch: Batch) -> tuple[torch.Tensor, Batch]:  # noqa: ANN401  # of any kind
            return task.inputs(batch.images), batch

        with patch.object(type(run.task), "vary", plain):
            return records()

    return {
        "same run": lambda: measure(run, cycle(ready)),
        "pinned anew": pinned_anew,
        "beside": beside,
        "kept": kept,
        "records": records,
        "one thread": one_thread,
        "not varied": not_varied,
        "waited for": lambda: records(waits=True),
    }


def time_copies(run: Run, batch: Batch) -> dict[str, tuple[float, float]]:
    """Copy the pictures of a batch alone: after which milliseconds the call returns, and GB/s."""
    pinned, plain = batch.images, _unpinned(batch).images

    def written() -> torch.Tensor:
        return pinned.copy_(plain)

    found = {
        "lies ready": _copy(lambda: pinned, run.device),
        "written just before": _copy(written, run.device),
        "pinned just before": _copy(plain.pin_memory, run.device),
        "not pinned": _copy(lambda: plain, run.device),
    }
    with busy_readers(run):
        found["lies ready, beside readers"] = _copy(lambda: pinned, run.device)
        found["written just before, beside readers"] = _copy(written, run.device)
    return found


def _copy(make: Callable[[], torch.Tensor], device: torch.device) -> tuple[float, float]:
    returns, rates = [], []
    for _ in range(COPIES):
        images = make()
        synchronize(device)
        began = time.perf_counter()
        there = images.to(device, non_blocking=True)
        returned = time.perf_counter() - began
        synchronize(device)
        rates.append(there.nbytes / (time.perf_counter() - began) / 1e9)
        returns.append(1000 * returned)
    return statistics.median(returns), statistics.median(rates)


@contextmanager
def busy_readers(run: Run) -> Iterator[None]:
    """Let as many processes as the run has read batches, as fast as they can."""
    given = run.source, run.recipe.loop.batch, run.recipe.loop.seed
    here = multiprocessing.get_context("fork")
    readers = [
        here.Process(target=_read_on, args=(*given, first), daemon=True)
        for first in range(run.workers)
    ]
    for reader in readers:
        reader.start()
    try:
        yield
    finally:
        for reader in readers:
            reader.terminate()
            reader.join()


def _read_on(source: Source, size: int, seed: int, first: int) -> None:
    torch.set_num_threads(1)
    with suppress(ImportError):
        import cv2

        cv2.setNumThreads(0)
    for number in count(first):
        places = stream_places(size, number)
        source.training_batch(places % len(source), places, seed)


@contextmanager
def ended(batches: Iterator[Batch]) -> Iterator[Iterator[Batch]]:
    """End readers and threads behind the batches, too."""
    with ExitStack() as stack:
        if hasattr(batches, "close"):
            stack.callback(batches.close)
        yield batches


def _unpinned(batch: Batch) -> Batch:
    return replace(batch, **{name: part.clone() for name, part in batch.tensors().items()})


def _pinner(run: Run) -> Callable[[Batch], Batch]:
    return Batch.pin_memory if pinned_memory_helps(run.device) else _unpinned


def _of_system() -> Figures:
    thread = resource.getrusage(resource.RUSAGE_THREAD)
    whole = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "processor, ms": 1000 * time.thread_time(),
        "interruptions": thread.ru_nivcsw,
        "pauses": thread.ru_nvcsw,
        "page faults": whole.ru_minflt,
    }


def _marked(
    work: Callable[..., Any], device: torch.device, spans: list[Span]
) -> Callable[..., Any]:
    """Note when the device begins and ends the work, on the stream that it is given to."""

    def work_marked(*given: Any) -> Any:  # noqa: ANN401
        began = _mark(device)
        made = work(*given)
        spans.append((began, _mark(device)))
        return made

    return work_marked


def _mark(device: torch.device) -> Any:  # noqa: ANN401  # of any backend
    if device.type == "cpu":
        return None
    mark = torch.get_device_module(device).Event(enable_timing=True)
    mark.record()
    return mark


def _of_device(marks: list[Any], copies: list[Span], replays: list[Span]) -> Figures:
    if marks[0] is None:
        return {}
    spans = {"a step": [*pairwise(marks)], "recorded part": replays, "copying a batch": copies}
    return {f"device, {name}": _median(each) for name, each in spans.items() if each}


def _median(marks: Iterable[Span]) -> float:
    return statistics.median(one.elapsed_time(other) for one, other in marks)


def show(found: dict[str, Figures]) -> None:
    print(f"\n| ms a step | {' | '.join(found)} |\n|---|" + len(found) * "---:|")
    for name in dict.fromkeys(name for each in found.values() for name in each):
        cells = [f"{each.get(name, 0.0):.2f}" for each in found.values()]
        print(f"| {name} | {' | '.join(cells)} |")


def show_copies(copied: dict[str, tuple[float, float]]) -> None:
    if copied:
        print("\n| a batch copied alone | returns after ms | GB/s |\n|---|---:|---:|")
    for name, (returns, rate) in copied.items():
        print(f"| {name} | {returns:.2f} | {rate:.1f} |")


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
