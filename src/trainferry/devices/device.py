"""Which device a run uses, and what that kind of device is good at."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import NamedTuple

import torch

from trainferry.devices import emulated_npu
from trainferry.devices.crowd import SHARE
from trainferry.devices.precision import Precision
from trainferry.errors import DeviceError

EMULATED_NPU_VARIABLE = "TRAINFERRY_EMULATED_NPU"

_GIB = 1024**3
_THREADS = "OMP_NUM_THREADS"


@dataclass(frozen=True)
class DeviceKind:
    """What is worth doing on one kind of device."""

    name: str
    pinned_memory: bool
    fused_optimizer: bool
    channels_last: bool
    coarse_norms: bool  # torch's norms add up maps that lie channels last one value after the other
    graph: str  # the class of its module that records work, if there is one
    records: bool  # whether it does so without being asked


KINDS = {
    # Fused updates round differently and gain the CPU nothing; without, CPU and NPU agree.
    "cpu": DeviceKind(
        "cpu",
        pinned_memory=False,
        fused_optimizer=False,
        channels_last=True,
        coarse_norms=True,
        graph="",
        records=False,
    ),
    "cuda": DeviceKind(
        "cuda",
        pinned_memory=True,
        fused_optimizer=True,
        channels_last=True,
        coarse_norms=False,
        graph="CUDAGraph",
        records=True,
    ),
    # torch_npu keeps its own private layouts, and its fused optimizers are other classes. Nobody
    # here could try its graphs.
    "npu": DeviceKind(
        "npu",
        pinned_memory=True,
        fused_optimizer=False,
        channels_last=False,
        coarse_norms=False,
        graph="NPUGraph",
        records=False,
    ),
}


def choose_device(asked: str) -> torch.device:
    """Return the device called `asked`, or the best one here for "auto".

    Raises DeviceError rather than fall back: a run that silently trains on the
    CPU costs its user a day. "auto" never means the emulated NPU.
    """
    if asked == "auto":
        real = [device for device in find_accelerators() if not is_emulated(device)]
        return choose_device(str(real[0])) if real else torch.device("cpu")

    kind, index = _parse(asked)
    if kind == "cpu":
        return torch.device("cpu")
    if kind == "npu":
        _install_emulated_npu_if_wanted()
    found = find_accelerators()
    count = sum(device.type == kind for device in found)
    if count == 0:
        raise DeviceError(
            f"no `{kind}` device on this machine; found: {_listed(found)}",
            hint="run `trainferry doctor` to see drivers and versions, or pass `--device auto`",
        )
    if index is not None and index >= count:
        raise DeviceError(
            f"no `{asked}` on this machine; found: {_listed(found)}",
            hint=f"devices count from zero: the last one here is {kind}:{count - 1}",
        )
    chosen = torch.device(kind, index or 0)
    _module(chosen).set_device(chosen)
    return chosen


def describe_device(device: torch.device) -> str:
    """One line with the device's name and memory and the version of torch."""
    return f"device: {device} ({_what(device)}), torch {torch.__version__}"


def find_accelerators() -> list[torch.device]:
    """Every accelerator of a kind we know; the one torch itself prefers comes first."""
    preferred = torch.accelerator.current_accelerator(check_available=True)
    kinds = [] if preferred is None else [preferred.type]
    # The emulated NPU hides a real accelerator from torch.accelerator.
    if "cuda" not in kinds and torch.cuda.is_available():
        kinds.append("cuda")
    return [
        torch.device(kind, index)
        for kind in kinds
        if kind in KINDS
        for index in range(torch.get_device_module(kind).device_count())
    ]


def name_device(device: torch.device) -> str:
    """The maker's name for an accelerator."""
    return str(_module(device).get_device_name(device))


def prepare(device: torch.device, precision: Precision) -> None:
    """Tune process-wide settings for training with static shapes on `device`.

    fp32 means fp32: neither matrix products nor convolutions may round to TF32.
    """
    if device.type != "cuda":
        return
    # Not the newer `fp32_precision` settings: torch refuses to read them back as the older ones,
    # which its own context managers and compiler do.
    torch.set_float32_matmul_precision("highest" if precision == "fp32" else "high")
    torch.backends.cudnn.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.benchmark = True


def leave_cores(device: torch.device) -> None:
    """Give the operators of the program itself one thread where `device` does the computing.

    They draw a few random numbers for each batch. Spread over all cores they would wait for
    cores that are reading the next batches, and the device for them. Who sets OMP_NUM_THREADS
    decides, but for `launch`, which does not know what computes.
    """
    asked = os.environ.get(_THREADS)
    is_free = asked is None or asked == os.environ.get(SHARE)
    if device.type != "cpu" and not is_emulated(device) and is_free:
        torch.set_num_threads(1)


def seed_device(seed: int, device: torch.device) -> None:
    """Seed the default generators of the CPU and of `device`."""
    torch.manual_seed(seed)
    if device.type != "cpu":
        _module(device).manual_seed_all(seed)


def synchronize(device: torch.device) -> None:
    """Wait until `device` has done all work it was given."""
    if device.type != "cpu":
        _module(device).synchronize(device)


class PeakMemory(NamedTuple):
    """The most memory of a device that tensors held, and that the program took to hold them.

    It takes more: sizes are rounded up, each stream has its own, and a recording keeps for itself
    what was used on several streams.
    """

    held_bytes: int
    taken_bytes: int


def peak_memory(device: torch.device) -> PeakMemory | None:
    """Return what was used since the start; None where nobody counts."""
    if device.type == "cpu" or is_emulated(device):
        return None
    module = _module(device)
    return PeakMemory(module.max_memory_allocated(device), module.max_memory_reserved(device))


def total_memory_bytes(device: torch.device) -> int | None:
    """The memory of `device` itself; None for the CPU and the emulated NPU."""
    if device.type == "cpu" or is_emulated(device):
        return None
    return int(_module(device).get_device_properties(device).total_memory)


def pinned_memory_helps(device: torch.device) -> bool:
    return KINDS[device.type].pinned_memory and not is_emulated(device)


def send(values: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Copy a few numbers to `device` without waiting for the work it still has to do."""
    if pinned_memory_helps(device):
        values = values.pin_memory()  # a copy from other memory waits for the work before it
    return values.to(device, non_blocking=True)


def same_device_elsewhere() -> Callable[[], None]:
    """Return what another thread has to call to use this one's device: threads begin at the first.

    Memory pinned for another device would take up room on the first one, too.
    """
    if not torch.accelerator.is_available():
        return lambda: None
    return partial(torch.accelerator.set_device_index, torch.accelerator.current_device_index())


def fused_optimizer_available(device: torch.device) -> bool:
    return KINDS[device.type].fused_optimizer


def channels_last_helps(device: torch.device) -> bool:
    return _computing_kind(device).channels_last


def has_coarse_norms(device: torch.device) -> bool:
    return _computing_kind(device).coarse_norms


def is_emulated(device: torch.device) -> bool:
    """True for the NPU that is emulated on the CPU."""
    return device.type == "npu" and emulated_npu.is_installed()


def _parse(asked: str) -> tuple[str, int | None]:
    kind, colon, index = asked.partition(":")
    if kind not in KINDS or (colon and not index.isdecimal()):
        raise DeviceError(
            f"`{asked}` is not a device",
            hint=f"choose auto, {', '.join(KINDS)}, or one of several such as cuda:1",
        )
    return kind, int(index) if colon else None


def _install_emulated_npu_if_wanted() -> None:
    if os.environ.get(EMULATED_NPU_VARIABLE) == "1":
        emulated_npu.install_emulated_npu()


def _listed(found: list[torch.device]) -> str:
    return ", ".join(f"`{name}`" for name in ["cpu", *map(str, found)])


def _module(device: torch.device) -> ModuleType:
    module: ModuleType = torch.get_device_module(device)
    return module


def _what(device: torch.device) -> str:
    if device.type == "cpu":
        threads = torch.get_num_threads()
        return f"{threads} thread{'' if threads == 1 else 's'}"
    if is_emulated(device):
        return "emulated on the CPU"
    memory = (total_memory_bytes(device) or 0) / _GIB
    return f"{name_device(device)}, {memory:.0f} GiB"


def _computing_kind(device: torch.device) -> DeviceKind:
    """Of the emulated NPU, the CPU: maps that lie alike are computed alike, to the last digit."""
    return KINDS["cpu" if is_emulated(device) else device.type]
