"""Dumps: what goes in and out of the layers at chosen steps, with gradients and weights.

    <run>/dumps/step-00000010/
        convolutions.conv1.safetensors   call0.input0, call0.output0, call0.gradient0, weight.bias…
        …                                one file for each layer; (network) is the whole of it
        index.json                       layer, kind, operator, shape, dtype, statistics of each

Gradients of outputs are as autograd made them, multiplied by the loss scale; those of weights as
the update used them. Weights are those before the update.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from torch import Tensor

from trainferry.errors import TrainingError, UsageError
from trainferry.train.data.batch import Batch
from trainferry.train.debug.dump_files import DumpedTensor, dump_folder, write_dump
from trainferry.train.debug.layers import Layer, name_layers, visit_layers
from trainferry.train.debug.ranks import of_rank
from trainferry.train.debug.switches import DumpSwitch, show_bytes
from trainferry.train.journal import Said
from trainferry.train.loop import Tell
from trainferry.train.run import Run


class DumpObserver:
    """Writes the layers of the steps asked for; raises before an update if they are too large."""

    def __init__(self, run: Run, switch: DumpSwitch, tell: Tell) -> None:
        self._run = run
        self._switch = switch
        self._tell = tell
        self._layers = {
            module: layer
            for module, layer in name_layers(run.network).items()
            if fnmatchcase(layer.name, switch.pattern) or fnmatchcase(layer.kind, switch.pattern)
        }
        _check(run, switch, list(self._layers.values()))
        self._wanted = set(self._layers.values())
        self._handles = visit_layers(run.network, self)
        self._handles.append(run.optimizer.register_step_pre_hook(lambda *_: self._finish()))
        self._active = False
        self._dumped: list[DumpedTensor] = []
        self._calls: Counter[Layer] = Counter()
        self._bytes = 0  # of all that was met, kept or not, in this step
        self._earlier_bytes = 0
        self._facts: dict[str, float | int | str] = {}
        self._written: set[int] = set()

    def before_batch(self) -> None:
        """Nothing was computed yet."""

    def before_step(self, batch: Batch) -> None:
        step = self._run.step + 1
        self._active = self._switch.holds(step) and step not in self._written
        if not self._active:
            return
        self._dumped, self._bytes = [], 0
        self._calls.clear()
        self._facts = {
            "step": step,
            "batch": self._run.position,
            "loss_scale": self._run.scale.value,
            "precision": self._run.recipe.precision.name,
            "device": self._run.device.type,
            "samples": ",".join(map(str, batch.positions.tolist())),
        }
        for module, layer in self._layers.items():
            own = (*module.named_parameters(recurse=False), *module.named_buffers(recurse=False))
            for name, value in own:
                self._keep(layer, None, f"weight.{name}", value)

    def after_step(self) -> None:
        self._finish()

    def close(self) -> None:
        for handle in self._handles:
            handle.remove()
        chosen = {step for part in self._switch.steps for step in part}
        if missing := sorted(chosen - self._written):
            steps = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
            self._tell(Said(self._run.step, f"not dumped, because not trained: step {steps}"))

    def enter(self, layer: Layer, inputs: Sequence[Tensor]) -> None:
        if self._active and layer in self._wanted:
            for number, tensor in enumerate(inputs):
                self._keep(layer, self._calls[layer], f"input{number}", tensor)

    def leave(self, layer: Layer, outputs: Sequence[Tensor]) -> None:
        if not self._active or layer not in self._wanted:
            return
        call = self._calls[layer]
        self._calls[layer] += 1
        for number, tensor in enumerate(outputs):
            self._keep(layer, call, f"output{number}", tensor)
            if tensor.requires_grad:
                tensor.register_hook(partial(self._keep, layer, call, f"gradient{number}"))

    def _keep(self, layer: Layer, call: int | None, name: str, tensor: Tensor | None) -> None:
        if tensor is None or not self._active:
            return
        self._bytes += tensor.numel() * tensor.element_size()
        if self._earlier_bytes + self._bytes > self._switch.limit_bytes:
            self._dumped.clear()  # too much: from here on it is only counted
            return
        operator = tensor.grad_fn.name() if tensor.grad_fn is not None else None
        # A copy in any case: what follows may change it in place.
        values = tensor.detach().cpu().clone()
        self._dumped.append(DumpedTensor(layer, call, name, operator, values))

    def _finish(self) -> None:
        """Write the step, once: before its update, or after it was left out."""
        if not self._active:
            return
        for module, layer in self._layers.items():
            for name, weight in module.named_parameters(recurse=False):
                self._keep(layer, None, f"weight_gradient.{name}", weight.grad)
        self._active = False
        step = int(self._facts["step"])
        self._check_size(step)
        folder = write_dump(_folder(self._run, step), self._dumped, self._facts)
        size = show_bytes(self._bytes)
        self._tell(Said(step, f"dumped {size} to {folder}"))
        self._written.add(step)
        self._earlier_bytes += self._bytes
        self._dumped = []

    def _check_size(self, step: int) -> None:
        limit, whole = self._switch.limit_bytes, self._earlier_bytes + self._bytes
        if whole <= limit:
            return
        left = sum(len(part) for part in self._switch.steps) - len(self._written) - 1
        whole += left * self._bytes
        raise TrainingError(
            f"the dump of step {step} takes {show_bytes(self._bytes)}, all steps asked for "
            f"{show_bytes(whole)}; {show_bytes(limit)} are allowed, and it was not written",
            hint="choose layers (--debug 'dump=10:*.conv1'), or allow more: "
            f"--debug 'dump=10:*:{-(-whole // 1024**2)}MiB'",
        )


def _folder(run: Run, step: int) -> Path:
    return dump_folder(run.folder, step, of_rank(run.group))


def _check(run: Run, switch: DumpSwitch, layers: list[Layer]) -> None:
    if not layers:
        names = [layer.name for layer in name_layers(run.network).values()]
        raise UsageError(
            f"no layer is called like `{switch.pattern}`, and none is of such a kind",
            hint=f"layers are called: {', '.join(names[:12])}{', …' if len(names) > 12 else ''}",
        )
    for step in (step for part in switch.steps for step in part):
        if (folder := _folder(run, step)).exists():
            raise UsageError(
                f"`{folder}` is there already, and dumps are not overwritten",
                hint="move it away, or give another --run folder",
            )
        if step > run.recipe.schedule.steps:
            raise UsageError(
                f"step {step} is to be dumped, and the run ends with {run.recipe.schedule.steps}",
                hint="choose an earlier step, or more: --set schedule.steps=…",
            )
        if step <= run.step:
            raise UsageError(
                f"step {step} is to be dumped, and the run goes on behind step {run.step}",
                hint="choose a later step, or start a new run folder",
            )
