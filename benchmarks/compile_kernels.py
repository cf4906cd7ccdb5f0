"""What becomes of our kernels on a Hopper: registers, spills and memory, without a GPU.

    python benchmarks/compile_kernels.py --only resnet50:256 crnn:64

Walks through a training step of each recipe in bf16 on torch's `meta` device, where tensors have
shapes and no values. Whatever the step starts there is compiled for sm_90 instead, with the sizes,
strides and alignments it really has, by Triton and its ptxas. One line for each program:

    variants   with other sizes or constants, compiled one by one; the numbers are the highest
    registers  of a thread; a Hopper has 65,536 for all threads of a processor
    spilled    bytes of registers that did not fit and go through memory
    shared     bytes of a program's memory beside the processor, of 232,448
    together   how many of a processor's 64 warps such programs keep, of the variant with the fewest

A program with spills, or with few warps of its own and of others, deserves a look.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
import triton
from torch import nn
from torch.overrides import TorchFunctionMode
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import get_ptxas
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from trainferry.devices import device as devices
from trainferry.devices import kernels
from trainferry.train.build import synthetic_run
from trainferry.train.kernels.cut import Part, cut_parts
from trainferry.train.recipe.read import read_recipe
from trainferry.train.working_weights import WorkingWeights

CASES = (
    *("crnn:64", "crnn:512", "crnn_words:64", "attention_ocr:32", "attention_ocr_signs:128"),
    *("resnet50:32", "resnet50:256", "resnet50_v2:256", "densenet121:32", "densenet121:256"),
    *("hrnet_w18:32", "hrnet_w18:256", "hrnet_w30:32", "cut:256"),
)
MOST_PROGRAMS = 65_535  # of a start, in its second and third direction
NOWHERE = torch.device("meta")
HALF = torch.bfloat16
ARCHITECTURE, PROCESSORS = 90, 132  # those of an H200
REGISTERS, SHARED, WARPS, PROGRAMS = 65_536, 233_472, 64, 32  # of a processor
OWN_SHARED, UNIT = 1024, 256  # bytes that each program has in vain; registers come in such units


@dataclass(frozen=True)
class Made:
    """What ptxas says of one variant of a program."""

    program: str
    constants: str
    warps: int
    registers: int
    spilled: int
    shared: int

    @property
    def together(self) -> int:
        of_warp = -(-self.registers * 32 // UNIT) * UNIT
        fitting = (
            REGISTERS // (of_warp * self.warps),
            SHARED // (self.shared + OWN_SHARED),
            WARPS // self.warps,
            PROGRAMS,
        )
        return min(fitting) * self.warps


class Compiler:
    """Takes the place of starting programs; the same one is compiled once."""

    def __init__(self) -> None:
        self.made: dict[str, Made] = {}

    def instead_of(self, start: Callable[..., Any]) -> Callable[..., None]:
        def compile_alone(program: Any, *given: Any, **options: Any) -> None:  # noqa: ANN401  # Triton's
            grid = options["grid"]
            if max((0, *grid[1:])) > MOST_PROGRAMS:
                raise ValueError(f"{program.__name__} would be started with a grid of {grid}")
            compiled = start(program, *given, **{**options, "warmup": True})
            if compiled.hash not in self.made:
                constants = [
                    f" {name}={value}" for name, value in options.items() if name.isupper()
                ]
                self.made[compiled.hash] = _ask_assembler(compiled, "".join(constants))

        return compile_alone


def _ask_assembler(compiled: Any, constants: str) -> Made:  # noqa: ANN401  # Triton's
    facts = compiled.metadata
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(compiled.asm["ptx"])
        file.flush()
        command = [get_ptxas(ARCHITECTURE).path, "-v", f"--gpu-name=sm_{ARCHITECTURE}a"]
        command += [file.name, "-o", "/dev/null"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    registers = max(map(int, re.findall(r"Used (\d+) registers", said)))
    spilled = max(map(int, re.findall(r"(\d+) bytes spill stores", said)), default=0)
    return Made(facts.name, constants, facts.num_warps, registers, spilled, facts.shared)


class _Narrowed(TorchFunctionMode):
    """What autocast does, which knows no `meta`: products are computed in half precision."""

    PRODUCTS = (torch.conv2d, nn.functional.linear, torch.matmul, torch.bmm, torch.Tensor.matmul)

    def __torch_function__(
        self,
        work: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  # whatever the work returns
        del types
        given = map(_narrow, args) if work in self.PRODUCTS else args
        return work(*given, **(kwargs or {}))


def _narrow(value: Any) -> Any:  # noqa: ANN401
    is_wide = isinstance(value, torch.Tensor) and value.dtype == torch.float32
    return value.to(HALF) if is_wide else value


@contextmanager
def pretend_hopper(compiler: Compiler) -> Iterator[None]:
    """Let `meta` be an H200 that compiles and starts nothing."""
    target = GPUTarget("cuda", ARCHITECTURE, 32)
    driver.set_active(
        SimpleNamespace(  # type: ignore[arg-type]  # all that compiling asks of it
            get_current_target=lambda: target,
            get_current_device=lambda: 0,
            get_current_stream=lambda _device: 0,
        )
    )
    facts = SimpleNamespace(multi_processor_count=PROCESSORS, major=ARCHITECTURE // 10)
    kind = dataclasses.replace(
        devices.KINDS["cuda"], pinned_memory=False, fused_optimizer=False, captures=False
    )
    enabled, half = torch.is_autocast_enabled, torch.get_autocast_dtype
    with (
        patch.dict(devices.KINDS, {"meta": kind}),
        patch.object(kernels, "_DEVICES", ("meta",)),
        patch.object(torch.cuda, "get_device_capability", lambda _: divmod(ARCHITECTURE, 10)),
        patch.object(torch.cuda, "get_device_properties", lambda _: facts),
        patch.object(torch, "is_autocast_enabled", lambda kind: kind == "meta" or enabled(kind)),
        patch.object(torch, "get_autocast_dtype", lambda k: HALF if k == "meta" else half(k)),
        patch.object(torch, "autocast", lambda *_, **__: nullcontext()),
        patch.object(JITFunction, "run", compiler.instead_of(JITFunction.run)),
        _Narrowed(),
    ):
        yield


def step(name: str, batch: int) -> None:
    """Forward, loss and backward of a recipe, with the variation of its pictures before."""
    recipe = read_recipe(name, [f"loop.batch={batch}"])
    run, _ = synthetic_run(recipe, NOWHERE, samples=batch)
    run.network.train()
    places = np.arange(batch)
    samples = run.source.training_batch(places, places, 0).to(NOWHERE)
    inputs, varied = run.task.vary(samples)
    weights = WorkingWeights(run.network, HALF)
    run.task.losses(weights(inputs, *run.task.hints(varied)), varied).mean().backward()
    weights.collect()


def cut(batch: int) -> None:
    """Pictures that a device has decoded, cut out with both filters."""
    parts = [Part(0, 375, 500, 10, 20, 224, 300, False)] * batch
    pixels = torch.empty(3 * 375 * 500, dtype=torch.uint8, device=NOWHERE)
    for name in ("antialias", "legacy"):
        cut_parts(pixels, parts, 224, 224, name)


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=CASES, help="RECIPE:BATCH, or cut:BATCH")
    parser.add_argument("--variants", action="store_true", help="a line for each variant")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    compiler = Compiler()
    with pretend_hopper(compiler):
        for case in arguments.only:
            name, _, batch = case.partition(":")
            before = len(compiler.made)
            if name == "cut":
                cut(int(batch))
            else:
                step(name, int(batch))
            print(f"{case}: {len(compiler.made) - before} new", file=sys.stderr, flush=True)
    made = list(compiler.made.values())
    print(f"Triton {triton.__version__}, sm_{ARCHITECTURE}, bf16, {len(made)} variants\n")
    show(made, lambda one: one.program + (one.constants if arguments.variants else ""))
    if arguments.json:
        facts = [{**dataclasses.asdict(one), "together": one.together} for one in made]
        arguments.json.write_text(json.dumps(facts, indent=1), encoding="utf-8")
    return 0


def show(made: Sequence[Made], name: Callable[[Made], str]) -> None:
    groups: dict[str, list[Made]] = defaultdict(list)
    for one in made:
        groups[name(one)].append(one)
    print("| program | variants | warps | registers | spilled | shared | together |")
    print("|---|" + 6 * "---:|")
    for shown, own in sorted(groups.items()):
        figures = [
            len(own),
            "/".join(map(str, sorted({each.warps for each in own}))),
            max(each.registers for each in own),
            max(each.spilled for each in own),
            max(each.shared for each in own),
            min(each.together for each in own),
        ]
        print(f"| {shown} | {' | '.join(map(str, figures))} |")


if __name__ == "__main__":
    sys.exit(main())
