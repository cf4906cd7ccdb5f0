"""trainferry benchmark: how fast a recipe trains on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from trainferry.cli.parser import positive

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.recipe.sections import Recipe

STEPS = 50


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "benchmark",
        help="images per second, milliseconds per step, memory",
        description="Time the whole training step on made-up data: forward, loss, backward, "
        "clipping, update, averaging. Reading data is not part of it.",
    )
    parser.add_argument("recipe", help="name of a recipe (crnn, resnet50, …) or a .toml file")
    parser.add_argument("--batch", type=positive, metavar="N", help="instead of the recipe's batch")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or npu")
    parser.add_argument(
        "--precision", choices=("fp32", "bf16", "fp16"), help="instead of the recipe's precision"
    )
    parser.add_argument("--steps", type=positive, default=STEPS, metavar="N", help="steps to time")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a recipe value"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.devices.device import choose_device, describe_device
    from trainferry.train.benchmark import benchmark

    device = choose_device(arguments.device)
    print(describe_device(device), file=sys.stderr)
    speed = benchmark(_recipe(arguments), device, arguments.steps)
    if speed.note:
        print(f"note: {speed.note}", file=sys.stderr)
    if speed.overflows:
        print(f"note: {speed.overflows} steps overflowed and made no update", file=sys.stderr)
    if arguments.json:
        print(json.dumps(speed.to_json(), indent=1))
        return 0
    print(f"recipe       {speed.recipe}, batch {speed.batch}, {speed.precision}")
    print(f"speed        {speed.images_per_second:,.0f} images/s")
    print(f"step         {speed.milliseconds_per_step:.2f} ms")
    print(f"peak memory  {speed.peak_memory_bytes / 2**30:.2f} GiB of the {speed.memory_of}")
    print(f"measured on  {speed.steps} steps after {speed.warm_up_steps} to warm up")
    return 0


def _recipe(arguments: argparse.Namespace) -> Recipe:
    from trainferry.train.recipe.read import read_recipe

    overrides = []
    if arguments.batch is not None:
        overrides.append(f"loop.batch={arguments.batch}")
    if arguments.precision is not None:
        scale = "dynamic" if arguments.precision == "fp16" else "none"
        overrides += [f"precision.name={arguments.precision}", f"precision.loss_scale={scale}"]
    return read_recipe(arguments.recipe, [*overrides, *arguments.set])
