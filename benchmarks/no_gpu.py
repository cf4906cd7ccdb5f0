"""A GPU that is not there: torch's `meta` device, where tensors have shapes and no values.

What a training step asks of a GPU it asks of this one; whatever it starts there goes to a function.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from trainferry.devices import device as devices
from trainferry.devices import kernels
from trainferry.devices.precision import Precision
from trainferry.train.build import synthetic_run
from trainferry.train.data.batch import Batch
from trainferry.train.recipe.read import read_recipe
from trainferry.train.run import Run

NOWHERE = torch.device("meta")
HALVES = {"bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Chip:
    """A GPU: its processors, and what each of them has."""

    name: str
    architecture: int
    processors: int
    shared: int  # bytes
    warps: int
    programs: int
    own_shared: int = 1024  # bytes that each program has in vain

    @property
    def most_shared(self) -> int:
        """Bytes that one program may have."""
        return self.shared - self.own_shared

    @property
    def target(self) -> str:
        return f"sm_{self.architecture}" + ("a" if self.architecture >= 90 else "")


CHIPS = {
    chip.architecture: chip
    for chip in (
        Chip("T4", 75, 40, 65_536, 32, 16, own_shared=0),
        Chip("A100", 80, 108, 167_936, 64, 32),
        Chip("RTX 3090", 86, 82, 102_400, 48, 16),
        Chip("L40", 89, 142, 102_400, 48, 24),
        Chip("H200", 90, 132, 233_472, 64, 32),
        Chip("B200", 100, 148, 233_472, 64, 32),
        Chip("RTX 5090", 120, 170, 102_400, 48, 24),
    )
}


Start = Callable[..., Any]  # of a program of Triton's, with what it is given and its options


@contextmanager
def pretend(chip: Chip, precision: Precision, start: Start) -> Iterator[None]:
    """Let `meta` be such a GPU, of which `start` gets all programs."""
    half = HALVES[precision]
    target = GPUTarget("cuda", chip.architecture, 32)
    driver.set_active(
        SimpleNamespace(  # type: ignore[arg-type]  # all that compiling asks of it
            get_current_target=lambda: target,
            get_current_device=lambda: 0,
            get_current_stream=lambda _device: 0,
        )
    )
    version = divmod(chip.architecture, 10)
    facts = SimpleNamespace(multi_processor_count=chip.processors, major=version[0])
    kind = dataclasses.replace(
        devices.KINDS["cuda"], pinned_memory=False, fused_optimizer=False, graph=""
    )
    enabled, format_of = torch.is_autocast_enabled, torch.get_autocast_dtype
    with (
        patch.dict(devices.KINDS, {"meta": kind}),
        patch.object(kernels, "_DEVICES", ("meta",)),
        patch.object(torch.cuda, "get_device_capability", lambda _: version),
        patch.object(torch.cuda, "get_device_properties", lambda _: facts),
        patch.object(torch, "is_autocast_enabled", lambda kind: kind == "meta" or enabled(kind)),
        patch.object(torch, "get_autocast_dtype", lambda k: half if k == "meta" else format_of(k)),
        patch.object(torch, "autocast", lambda *_, **__: nullcontext()),
        patch.object(JITFunction, "run", start),
        _Narrowed(half),
    ):
        yield


def begin(name: str, batch: int, precision: Precision) -> tuple[Run, tuple[Tensor, ...], Batch]:
    """Return a run of a recipe, and what its network and its loss get, with varied pictures."""
    scale = "dynamic" if precision == "fp16" else "none"
    sets = [f"loop.batch={batch}", f"precision.name={precision}", f"precision.loss_scale={scale}"]
    run, _ = synthetic_run(read_recipe(name, sets), NOWHERE, samples=batch)
    run.network.train()
    places = np.arange(batch)
    samples = run.source.training_batch(places, places, 0).to(NOWHERE)
    inputs, varied = run.task.vary(samples)
    return run, (inputs, *run.task.hints(varied)), varied


class _Narrowed(TorchFunctionMode):
    """What autocast does, which knows no `meta`: products are computed in half precision."""

    def __init__(self, half: torch.dtype) -> None:
        super().__init__()
        self.half = half

    PRODUCTS = (torch.conv2d, nn.functional.linear, torch.matmul, torch.bmm, torch.Tensor.matmul)

    def __torch_function__(
        self,
        work: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  # whatever the work returns
        del types
        given = map(self._narrow, args) if work in self.PRODUCTS else args
        return work(*given, **(kwargs or {}))

    def _narrow(self, value: Any) -> Any:  # noqa: ANN401
        is_wide = isinstance(value, torch.Tensor) and value.dtype == torch.float32
        return value.to(self.half) if is_wide else value
