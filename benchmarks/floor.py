"""The least time a training step can take on a device, from its bytes and operations.

    python benchmarks/floor.py resnet50:256 crnn:64 --matrix 790 --memory 4.8

Every layer is a few passes: a convolution forwards, back to its input, and back to its weights; a
norm with what follows it as our kernels make it, three maps forwards and five back. A pass takes
the longer one of its multiplications and its bytes, in bf16 with weights in fp32, and nothing
is lost between passes. What it leaves out, variation of the pictures, loss, recurrent steps that
wait for each other, and starting kernels, only makes real steps longer.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from trainferry.train.build import synthetic_run
from trainferry.train.networks.layers import DebiasedNorm
from trainferry.train.networks.view_norm import ViewNorm
from trainferry.train.recipe.read import read_recipe

CASES = (
    *("crnn:64", "crnn:512", "attention_ocr:32", "resnet50:32", "resnet50:256"),
    *("densenet121:32", "densenet121:256", "hrnet_w18:32", "hrnet_w18:256", "hrnet_w30:32"),
)
TRACED = 2  # pictures that are really computed; everything grows with their number
HALF, FULL = 2, 4  # bytes
NORM_FORWARD, NORM_BACK = 3, 5  # maps that are read or written
PER_WEIGHT = 5 * FULL + FULL + HALF  # momentum: read three, write two; then the copy in bf16


@dataclass(frozen=True)
class Device:
    """Operations and bytes of a second."""

    operations: float
    bytes: float

    def seconds(self, operations: float, moved: float) -> float:
        return max(operations / self.operations, moved / self.bytes)


@dataclass
class Floor:
    """Seconds by kind of layer, and what they are made of."""

    device: Device
    grows: float
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    operations: float = 0.0
    moved: float = 0.0

    def add(self, kind: str, operations: float, moved: float) -> None:
        self.operations += operations
        self.moved += moved
        self.seconds[kind] += self.device.seconds(operations, moved)

    def product(self, module: nn.Module, inputs: Tensor, outputs: Tensor, *, first: bool) -> None:
        """A convolution or a matrix: forwards, back to the input, back to the weights."""
        weight = module.weight
        assert isinstance(weight, Tensor)
        per_output = 2 * weight.numel() / weight.shape[0]
        operations = self.grows * outputs.numel() * per_output
        read, written = (self.grows * HALF * each.numel() for each in (inputs, outputs))
        of_weight = HALF * weight.numel()
        self.add("products", operations, read + of_weight + written)
        if not first:
            self.add("products", operations, written + of_weight + read)
        self.add("products", operations, written + read + FULL * weight.numel())

    def recurrence(self, module: nn.LSTM, inputs: Tensor, outputs: Tensor) -> None:
        """All steps as one product of everything that goes in, which is less than they take."""
        weights = sum(each.numel() for each in module.parameters() if each.ndim > 1)
        rows = self.grows * inputs.numel() / inputs.shape[-1]
        moved = self.grows * HALF * (inputs.numel() + outputs.numel())
        for _ in range(3):
            self.add("products", 2 * weights * rows, moved + HALF * weights)

    def norm(self, outputs: Tensor) -> None:
        size = self.grows * HALF * outputs.numel()
        self.add("norms", 0.0, NORM_FORWARD * size)
        self.add("norms", 0.0, NORM_BACK * size)

    def pool(self, inputs: Tensor, outputs: Tensor) -> None:
        size = self.grows * HALF * (inputs.numel() + outputs.numel())
        self.add("pools", 0.0, 2 * size)


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("cases", nargs="*", default=CASES, help="RECIPE:BATCH")
    parser.add_argument("--matrix", type=float, default=790, help="bf16 TFLOP/s that are reached")
    parser.add_argument("--memory", type=float, default=4.8, help="TB/s")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    device = Device(1e12 * arguments.matrix, 1e12 * arguments.memory)
    rows = []
    for case in arguments.cases:
        name, _, batch = case.partition(":")
        rows.append(_row(name, int(batch), device))
        print(f"{case}: done", file=sys.stderr)
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return 0
    heads = "operations | bytes | products | norms | pools | update | ms | images/s"
    print(f"| recipe | batch | {heads} |")
    print("|---|" + 9 * "---:|")
    for row in rows:
        parts = [f"{row[each]:.2f}" for each in ("products", "norms", "pools", "update", "ms")]
        size = f"{row['operations'] / 1e12:.2f} T | {row['bytes'] / 1e9:.1f} GB"
        rate = f"{row['images_per_second']:,.0f}"
        print(f"| {row['recipe']} | {row['batch']} | {size} | {' | '.join(parts)} | {rate} |")
    return 0


def _row(name: str, batch: int, device: Device) -> dict[str, float | str]:
    recipe = read_recipe(name, [f"loop.batch={TRACED}", "precision.loss_scale=none"])
    run, _ = synthetic_run(recipe, torch.device("cpu"), samples=TRACED)
    floor = Floor(device, batch / TRACED)
    handles = list(_listen(run.network.train(), floor))
    given = run.source.training_batch([0, 1], [0, 1], 0)
    inputs, varied = run.task.vary(given)
    with torch.no_grad():
        run.network(inputs, *run.task.hints(varied))
    for handle in handles:
        handle.remove()
    weights = sum(each.numel() for each in run.network.parameters())
    floor.add("update", 0.0, PER_WEIGHT * weights)
    parts = {kind: 1e3 * seconds for kind, seconds in floor.seconds.items()}
    total = sum(parts.values())
    empty = {"products": 0.0, "norms": 0.0, "pools": 0.0}
    return {
        **empty,
        **parts,
        "recipe": name,
        "batch": batch,
        "operations": floor.operations,
        "bytes": floor.moved,
        "ms": total,
        "images_per_second": 1e3 * batch / total,
    }


def _listen(network: nn.Module, floor: Floor) -> Iterator[RemovableHandle]:
    """Let every layer tell the sizes that pass through it."""
    seen: list[nn.Module] = []

    def product(module: nn.Module, inputs: tuple[Tensor, ...], outputs: Tensor) -> None:
        floor.product(module, inputs[0], outputs, first=not seen)
        seen.append(module)

    def recurrence(
        module: nn.Module, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...]
    ) -> None:
        assert isinstance(module, nn.LSTM)
        floor.recurrence(module, inputs[0], outputs[0])

    def norm(_module: nn.Module, _inputs: tuple[Tensor, ...], outputs: Tensor) -> None:
        floor.norm(outputs)

    def pool(_module: nn.Module, inputs: tuple[Tensor, ...], outputs: Tensor) -> None:
        floor.pool(inputs[0], outputs)

    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            yield module.register_forward_hook(product)
        elif isinstance(module, nn.LSTM):
            yield module.register_forward_hook(recurrence)
        elif isinstance(module, nn.BatchNorm2d | DebiasedNorm | ViewNorm):
            yield module.register_forward_hook(norm)
        elif isinstance(module, nn.MaxPool2d | nn.AvgPool2d) or type(module).__name__ in (
            "SameMaxPool",
            "WindowMax",
        ):
            yield module.register_forward_hook(pool)


if __name__ == "__main__":
    sys.exit(main())
