"""What becomes of our kernels on a GPU: registers, spills and memory, without one.

    python benchmarks/compile_kernels.py --only resnet50:256 crnn:64 --architecture 90

Walks through a training step of each recipe in half precision on torch's `meta` device, where
tensors have shapes and no values. Whatever the step starts there is compiled instead, with the
sizes, strides and alignments it really has, by Triton and its ptxas. One line for each program:

    variants   with other sizes or constants, compiled one by one; the numbers are the highest
    registers  of a thread; there are 65,536 for all threads of a processor
    spilled    bytes of registers that did not fit and go through memory
    shared     bytes of a program's memory beside the processor
    together   how many of a processor's warps such programs keep, of the variant with the fewest

A program with spills, or with few warps of its own and of others, deserves a look. One that needs
more memory beside the processor than there is would not start: it is told, and the exit code is 1.
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import triton
from no_gpu import CHIPS, HALVES, NOWHERE, Chip, begin, pretend
from triton.backends.nvidia.compiler import get_ptxas
from triton.runtime.jit import JITFunction

from trainferry.devices.precision import Precision
from trainferry.train.kernels.cut import Part, cut_parts
from trainferry.train.working_weights import WorkingWeights

CASES = (
    *("crnn:64", "crnn:512", "crnn_words:64", "attention_ocr:32", "attention_ocr_signs:128"),
    *("resnet50:32", "resnet50:256", "resnet50_v2:256", "densenet121:32", "densenet121:256"),
    *("hrnet_w18:32", "hrnet_w18:256", "hrnet_w30:32", "cut:256"),
)
MOST_PROGRAMS = 65_535  # of a start, in its second and third direction
START = JITFunction.run  # Triton's own
REGISTERS, UNIT = 65_536, 256  # of a processor; a warp's come in such units


@dataclass(frozen=True)
class Made:
    """What ptxas says of one variant of a program."""

    program: str
    constants: str
    warps: int
    registers: int
    spilled: int
    shared: int

    def together(self, chip: Chip) -> int:
        of_warp = -(-self.registers * 32 // UNIT) * UNIT
        fitting = (
            REGISTERS // (of_warp * self.warps),
            chip.shared // max(self.shared + chip.own_shared, 1),
            chip.warps // self.warps,
            chip.programs,
        )
        return min(fitting) * self.warps


class Compiler:
    """Takes the place of starting programs; the same one is compiled once."""

    def __init__(self, chip: Chip) -> None:
        self.chip = chip
        self.made: dict[str, Made] = {}

    @property
    def start(self) -> Callable[..., None]:
        return lambda program, *given, **options: self._compile(program, given, options)

    def _compile(self, program: Any, given: Sequence[Any], options: dict[str, Any]) -> None:  # noqa: ANN401  # Triton's
        grid = options["grid"]
        if max((0, *grid[1:])) > MOST_PROGRAMS:
            raise ValueError(f"{program.__name__} would be started with a grid of {grid}")
        compiled = START(program, *given, **{**options, "warmup": True})
        if compiled.hash not in self.made:
            constants = [f" {name}={value}" for name, value in options.items() if name.isupper()]
            self.made[compiled.hash] = _ask_assembler(compiled, "".join(constants), self.chip)


def _ask_assembler(compiled: Any, constants: str, chip: Chip) -> Made:  # noqa: ANN401  # Triton's
    facts = compiled.metadata
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(compiled.asm["ptx"])
        file.flush()
        command = [get_ptxas(chip.architecture).path, "-v", f"--gpu-name={chip.target}"]
        command += [file.name, "-o", "/dev/null"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    registers = max(map(int, re.findall(r"Used (\d+) registers", said)))
    spilled = max(map(int, re.findall(r"(\d+) bytes spill stores", said)), default=0)
    return Made(facts.name, constants, facts.num_warps, registers, spilled, facts.shared)


def step(name: str, batch: int, precision: Precision) -> None:
    """Forward, loss and backward of a recipe, with the variation of its pictures before."""
    run, told, varied = begin(name, batch, precision)
    weights = WorkingWeights(run.network, HALVES[precision])
    run.task.losses(weights(*told), varied).mean().backward()
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
    parser.add_argument("--architecture", type=int, choices=CHIPS, default=90)
    parser.add_argument("--precision", choices=HALVES, default="bf16")
    parser.add_argument("--variants", action="store_true", help="a line for each variant")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    chip = CHIPS[arguments.architecture]
    compiler = Compiler(chip)
    with pretend(chip, arguments.precision, compiler.start):
        for case in arguments.only:
            name, _, batch = case.partition(":")
            before = len(compiler.made)
            if name == "cut":
                cut(int(batch))
            else:
                step(name, int(batch), arguments.precision)
            print(f"{case}: {len(compiler.made) - before} new", file=sys.stderr, flush=True)
    made = list(compiler.made.values())
    facts = f"{chip.name}, {chip.target}, {arguments.precision}, {len(made)} variants"
    print(f"Triton {triton.__version__}, {facts}\n")
    show(made, chip, lambda one: one.program + (one.constants if arguments.variants else ""))
    if arguments.json:
        figures = [{**dataclasses.asdict(one), "together": one.together(chip)} for one in made]
        arguments.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    too_large = [one for one in made if one.shared > chip.most_shared]
    for one in too_large:
        print(f"does not start: {one.program}{one.constants}, {one.shared:,}", file=sys.stderr)
    return 1 if too_large else 0


def show(made: Sequence[Made], chip: Chip, name: Callable[[Made], str]) -> None:
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
            min(each.together(chip) for each in own),
        ]
        print(f"| {shown} | {' | '.join(map(str, figures))} |")


if __name__ == "__main__":
    sys.exit(main())
