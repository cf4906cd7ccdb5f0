"""What a recorded step takes of a GPU's memory, and whether its streams wait where they must.

    python benchmarks/recorded_memory.py --only hrnet_w18:32 resnet50:256

Needs no GPU. Each recipe records its whole step, with our kernels, on torch's `meta` device, where
tensors have shapes and no values. What streams do and wait for is noted (`stream_watch.py`), and
torch's allocator is played through (`allocator_model.py`). In GiB:

    before      what was there when the recording began: weights, averages, the optimizer's, a batch
    held        what tensors held of the recording's own at most
    taken       what it took from the device for that
    expandable  the same with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
    one stream  what it would have taken without other streams
    kept back   was not used again, since several streams read it

What libraries take for themselves is not counted. The exit code is 1 where a stream may read what
another has not yet written, or memory is handed on that another stream may still use.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import patch

import torch
from allocator_model import Allocator, allocate
from no_gpu import CHIPS, HALVES, begin, pretend
from stream_watch import Stream, Watch
from torch import Tensor

from trainferry.devices import device as devices
from trainferry.devices import kernels, lanes
from trainferry.devices.precision import Precision
from trainferry.train.kernels import copies
from trainferry.train.whole_step import WholeStep

CASES = (
    *("crnn:64", "crnn:512", "attention_ocr:32", "attention_ocr_signs:128", "resnet50:32"),
    *("resnet50:256", "densenet121:32", "densenet121:256", "hrnet_w18:32", "hrnet_w18:256"),
    "hrnet_w30:32",
)
MOST_CALLS = 6  # until a step is recorded
GIB = 2**30


@dataclass
class Found:
    """Bytes; and what is wrong, with how often."""

    case: str
    before: int
    held: int
    taken: int
    expandable: int
    one_stream: int
    kept_back: int
    streams: int
    wrong: Counter[str] = field(default_factory=Counter)


def record(name: str, batch: int, precision: Precision) -> Watch:
    """Record the whole step of a recipe, and return who watched."""
    watch = Watch()
    module_of = torch.get_device_module

    def module(device: torch.device | str | None = None) -> ModuleType | Watch:
        is_ours = device is not None and torch.device(device).type == "meta"
        return watch if is_ours else module_of(device)

    def start(_program: object, *given: object, **_options: object) -> None:
        watch.start(*given)

    def record_stream(tensor: Tensor, stream: Stream) -> None:
        watch.record_stream(tensor, stream)

    def facts_of(source: Tensor, goal: Tensor) -> tuple[int, ...]:
        watch.see([source], [goal])  # the program that copies gets addresses alone
        return told_facts(source, goal)

    told_facts = copies._facts
    unwatched = SimpleNamespace(_get_current_dispatch_mode=lambda: None)
    with (
        pretend(CHIPS[90], precision, start),
        patch.dict(devices.KINDS, {"meta": replace(devices.KINDS["meta"], graph="CUDAGraph")}),
        patch.object(torch, "get_device_module", module),
        patch.object(torch.Tensor, "record_stream", record_stream),
        patch.object(kernels, "_python_dispatch", unwatched),
        patch.object(copies, "_facts", facts_of),
    ):
        run, told, batch_of = begin(name, batch, precision)
        step = WholeStep(run)
        for _ in range(MOST_CALLS):
            if not step.is_recorded:
                step(told, batch_of)
    lanes._side.cache_clear()
    assert step.is_recorded
    return watch


def measure(case: str, precision: Precision) -> Found:
    name, _, batch = case.partition(":")
    watch = record(name, int(batch), precision)
    told, grown, alone = (
        allocate(watch.turns, Allocator(expandable=expandable, apart=apart))
        for expandable, apart in ((False, True), (True, True), (False, False))
    )
    return Found(
        case,
        before=watch.before,
        held=told.held,
        taken=told.taken,
        expandable=grown.taken,
        one_stream=alone.taken,
        kept_back=told.kept_back,
        streams=watch.count_streams(),
        wrong=watch.disorder + told.too_early,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=CASES, help="RECIPE:BATCH")
    parser.add_argument("--precision", choices=HALVES, default="bf16")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    columns = ("before", "held", "taken", "expandable", "one stream", "kept back")
    print(f"| recipe, batch | {' | '.join(columns)} | streams | wrong |")
    print("|---|" + (len(columns) + 2) * "---:|")
    found = []
    for case in arguments.only:
        one = measure(case, arguments.precision)
        found.append(one)
        cells = [f"{getattr(one, each.replace(' ', '_')) / GIB:.2f}" for each in columns]
        title = case.replace(":", ", ")
        print(
            f"| {title} | {' | '.join(cells)} | {one.streams} | {one.wrong.total()} |", flush=True
        )
        for what, times in one.wrong.most_common():
            print(f"{case}: {times} times {what}", file=sys.stderr)
    if arguments.json:
        arguments.json.write_text(json.dumps([vars(one) for one in found], indent=1), "utf-8")
    return 1 if any(one.wrong for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
