"""trainferry benchmark: how fast a recipe trains on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from typing import TYPE_CHECKING

from trainferry.cli.parser import positive
from trainferry.counted import counted
from trainferry.devices.segments import let_segments_grow, start_again_where_refused

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.benchmark import Speed
    from trainferry.train.peers.beside import Beside, Pace
    from trainferry.train.recipe.sections import Recipe

STEPS = 50


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "benchmark",
        help="measure images per second, milliseconds per step and memory",
        description="Time the whole training step on made-up data: forward, loss, backward, "
        "clipping, update, averaging. Reading data is not part of it.",
    )
    parser.add_argument(
        "recipe", metavar="RECIPE", help="name of a recipe (crnn, resnet50, …) or a .toml file"
    )
    parser.add_argument("--batch", type=positive, metavar="N", help="instead of the recipe's batch")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or npu")
    parser.add_argument(
        "--precision", choices=("fp32", "bf16", "fp16"), help="instead of the recipe's precision"
    )
    parser.add_argument("--steps", type=positive, default=STEPS, metavar="N", help="steps to time")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a recipe value"
    )
    parser.add_argument(
        "--against",
        metavar="PEER",
        help="time a peer of your environment beside it: timm, torchvision, timm:NAME, "
        "clovaai:CHECKOUT, or FILE.py:FUNCTION, which gets a case and returns a training step",
    )
    parser.add_argument(
        "--peer-mode",
        choices=("eager", "compile", "reduce-overhead"),
        default="eager",
        help="how the peer runs: as it is, or by torch.compile",
    )
    parser.add_argument(
        "--rounds", type=positive, default=3, metavar="N", help="with --against: how often in turn"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run, computes=True, takes_long=True)


def run(arguments: argparse.Namespace) -> int:
    if arguments.against is None:  # a peer keeps what its users have
        let_segments_grow()
    from trainferry.devices.capture import capture_helps
    from trainferry.devices.device import choose_device, describe_device
    from trainferry.devices.fallbacks import describe_fallbacks, hear_fallbacks
    from trainferry.train.benchmark import benchmark
    from trainferry.train.loop import RECORDING

    device = choose_device(arguments.device)
    start_again_where_refused(device, partial(print, file=sys.stderr))
    print(describe_device(device), file=sys.stderr)
    if capture_helps(device):
        print(RECORDING, file=sys.stderr)
    if arguments.against:
        return _beside(arguments, str(device))
    with hear_fallbacks(device) as fallbacks:
        speed = benchmark(_recipe(arguments), device, arguments.steps)
        on_cpu = fallbacks.operators()
    _note(speed, describe_fallbacks(on_cpu))
    if arguments.json:
        print(json.dumps({**speed.to_json(), "cpu_operators": on_cpu}, indent=1))
        return 0
    print(f"recipe       {speed.recipe}, batch {speed.batch}, {speed.precision}")
    print(f"speed        {speed.images_per_second:,.0f} images/s")
    print(f"step         {speed.milliseconds_per_step:.2f} ms")
    print(f"peak memory  {_memory(speed)}")
    print(f"first step   after {speed.first_step_seconds:.1f} s")
    print(f"measured on  {counted(speed.steps, 'step')} after {speed.warm_up_steps} to warm up")
    return 0


def _memory(speed: Speed) -> str:
    held = f"{speed.peak_memory_bytes / 2**30:.2f} GiB of the {speed.memory_of}"
    if speed.memory_of == "process":
        return held
    return f"{held}, {speed.taken_memory_bytes / 2**30:.2f} with what is kept for the next step"


def _note(speed: Speed, fallbacks: str) -> None:
    if speed.note:
        print(f"note: {speed.note}", file=sys.stderr)
    if speed.overflows:
        print(
            f"note: {counted(speed.overflows, 'step')} overflowed and made no update",
            file=sys.stderr,
        )
    if fallbacks:
        print(f"note: {fallbacks}", file=sys.stderr)


def _beside(arguments: argparse.Namespace, device: str) -> int:
    from trainferry.train.build import without_data
    from trainferry.train.peers.beside import time_beside
    from trainferry.train.peers.peer import find_peer, make_case

    recipe, _ = without_data(_recipe(arguments))
    peer = find_peer(arguments.against, recipe)
    case = make_case(recipe, device, arguments.peer_mode)
    found = time_beside(_ours(arguments), peer, case, arguments.steps, arguments.rounds)
    if arguments.json:
        print(json.dumps(found.to_json(), indent=1))
    else:
        _show(found, f"{recipe.name}, batch {case.batch}, {case.precision}")
    return 0


def _ours(arguments: argparse.Namespace) -> list[str]:
    """Return the words that make another process time the recipe alone."""
    words = [arguments.recipe, "--device", arguments.device, "--steps", str(arguments.steps)]
    if arguments.batch is not None:
        words += ["--batch", str(arguments.batch)]
    if arguments.precision is not None:
        words += ["--precision", arguments.precision]
    return [*words, *(word for each in arguments.set for word in ("--set", each))]


def _show(found: Beside, title: str) -> None:
    sides = (found.ours, found.peer)
    wide = max(len(title), *(len(side.name) for side in sides))
    counts = any(side.taken_memory_bytes != side.peak_memory_bytes for side in sides)
    taken = "  taken GiB" if counts else ""
    print(f"{title:{wide}}  images/s  ms a step    GiB{taken}  first step after")
    for side in sides:
        print(f"{side.name:{wide}}  {_cells(side, counts=counts)}")
    low, high = min(found.ratios), max(found.ratios)
    spread = f"{low:.2f} to {high:.2f} in {len(found.ratios)} rounds, in turn"
    print(f"{'ratio':{wide}}  {found.ratio:.2f}  ({spread})")


def _cells(side: Pace, *, counts: bool) -> str:
    taken = f"  {side.taken_memory_bytes / 2**30:9.2f}" if counts else ""
    return (
        f"{side.images_per_second:8,.0f}  {side.milliseconds_per_step:9.2f}  "
        f"{side.peak_memory_bytes / 2**30:5.2f}{taken}  {side.first_step_seconds:14.1f} s"
    )


def _recipe(arguments: argparse.Namespace) -> Recipe:
    from trainferry.train.recipe.read import read_recipe

    overrides = []
    if arguments.batch is not None:
        overrides.append(f"loop.batch={arguments.batch}")
    if arguments.precision is not None:
        scale = "dynamic" if arguments.precision == "fp16" else "none"
        overrides += [f"precision.name={arguments.precision}", f"precision.loss_scale={scale}"]
    return read_recipe(arguments.recipe, [*overrides, *arguments.set])
