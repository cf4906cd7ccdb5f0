"""Where the time of a device goes: torch's profiler, or torch_npu's on an NPU."""

from __future__ import annotations

import gzip
import importlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from trainferry.devices.device import is_emulated
from trainferry.errors import DeviceError


@dataclass(frozen=True)
class OperatorTime:
    """An operator's own time, without what it calls; on an accelerator, the time there."""

    name: str
    calls: int
    seconds: float


class Profiler(Protocol):
    """Records what runs between `start` and `stop`."""

    def start(self) -> None:
        """Begin to record."""

    def stop(self) -> None:
        """Record no more."""

    def save(self, path: Path) -> None:
        """Write a trace that Perfetto and chrome://tracing open; `.json.gz`."""

    def operators(self) -> list[OperatorTime] | None:
        """Return the operators, longest first; None if this device's profiler does not say."""


def open_profiler(device: torch.device) -> Profiler:
    """Return the profiler that sees `device` and the program that drives it."""
    if device.type == "npu" and not is_emulated(device):
        return _AscendProfiler()
    return _TorchProfiler(device)


class _TorchProfiler:
    def __init__(self, device: torch.device) -> None:
        os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # it tells every start and stop on stderr
        activities = [torch.profiler.ProfilerActivity.CPU]
        self._on_device = device.type == "cuda"
        if self._on_device:
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self._profiler = torch.profiler.profile(
            activities=activities, record_shapes=True, acc_events=True
        )
        # Now, so that the first step that is recorded does not pay for it.
        self._profiler.prepare_trace()

    def start(self) -> None:
        self._profiler.start_trace()

    def stop(self) -> None:
        self._profiler.stop_trace()

    def save(self, path: Path) -> None:
        self._profiler.export_chrome_trace(str(path))

    def operators(self) -> list[OperatorTime]:
        times = [
            OperatorTime(str(each.key), int(each.count), self._microseconds(each) / 1e6)
            for each in self._profiler.key_averages()
            if not getattr(each, "is_user_annotation", False)
        ]
        return sorted(times, key=lambda each: each.seconds, reverse=True)

    def _microseconds(self, each: Any) -> float:  # noqa: ANN401  # torch names no type
        return float(each.self_device_time_total if self._on_device else each.self_cpu_time_total)


class _AscendProfiler:
    """The same calls as torch's: what the vendor documents for `torch_npu.profiler.profile`.

    Never run on an NPU.
    """

    def __init__(self) -> None:
        try:
            profiler: Any = importlib.import_module("torch_npu.profiler")
        except ImportError as error:
            raise DeviceError(
                f"the profiler of torch_npu cannot be loaded: {error}",
                hint="`trainferry doctor` shows which versions of torch_npu and CANN are here",
            ) from error
        self._profiler = profiler.profile(
            activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU],
            record_shapes=True,
        )

    def start(self) -> None:
        self._profiler.start()

    def stop(self) -> None:
        self._profiler.stop()

    def save(self, path: Path) -> None:
        plain = path.with_suffix("")  # it writes `.json` only
        self._profiler.export_chrome_trace(str(plain))
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()

    def operators(self) -> None:
        return None
