"""What this machine offers to training, as facts with advice; behind `trainferry doctor`."""

from __future__ import annotations

import os
import platform
import shutil
from importlib import metadata
from pathlib import Path

from trainferry.devices.accelerator_facts import accelerator_facts
from trainferry.devices.fact import Fact, State, parse_version
from trainferry.devices.torch_probe import TorchFacts, probe_torch

_GIB = 1024**3
_MIB = 1024**2

OLDEST_PYTHON = (3, 11)
OLDEST_TORCH = (2, 9)

# What training cannot do without, and what each of the others is for.
_REQUIRED = {"numpy": "arrays", "pillow": "pictures"}
_OPTIONAL = {
    "safetensors": "checkpoints",
    "opencv-python-headless": "reading and resizing pictures quickly",
    "simplejpeg": "reading JPEG pictures twice as fast as Pillow",
    "google-crc32c": "checking records quickly",
    "rapidfuzz": "edit distances in scores, quickly",
    "ml_dtypes": "bfloat16 in TensorFlow checkpoints",
    "rich": "progress display",
    "tensorboard": "curves and pictures in TensorBoard",
    "onnx": "export",
    "onnxscript": "export",
    "onnxruntime": "checking an exported network",
}
_SAME_PACKAGE = {"opencv-python-headless": ("opencv-python", "opencv-contrib-python")}


def find_facts(folder: Path) -> list[Fact]:
    """Look at everything; `folder` is where runs would be written."""
    torch = probe_torch()
    return [
        *_machine(folder),
        _torch(torch),
        *accelerator_facts(torch),
        *(_package(name, needed_for, required=True) for name, needed_for in _REQUIRED.items()),
        *(_package(name, needed_for, required=False) for name, needed_for in _OPTIONAL.items()),
    ]


def can_train(facts: list[Fact]) -> bool:
    """Whether training can run here on anything, be it the CPU."""
    needed = {"python", "torch", *_REQUIRED}
    return all(fact.state == "ok" for fact in facts if fact.name in needed)


def _machine(folder: Path) -> list[Fact]:
    return [
        _python(),
        Fact("machine", "platform", "ok", platform.platform()),
        Fact("machine", "processors", "ok", str(_processors())),
        _memory(),
        _disk(folder),
        _shared_memory(),
    ]


def _python() -> Fact:
    version = platform.python_version()
    if parse_version(version)[:2] < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        return Fact("machine", "python", "problem", version, f"use Python {wanted} or newer")
    return Fact("machine", "python", "ok", version)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> Fact:
    try:
        memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return Fact("machine", "memory", "missing", "unknown on this system")
    return Fact("machine", "memory", "ok", f"{memory_bytes / _GIB:.0f} GiB")


def _disk(folder: Path) -> Fact:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Fact("machine", "disk", "missing", f"unknown: {error.strerror}")
    if free < _GIB:
        advice = "free some space, or write runs to another disk"
        return Fact("machine", "disk", "problem", f"{free / _MIB:.0f} MiB free here", advice)
    return Fact("machine", "disk", "ok", f"{free / _GIB:.0f} GiB free here")


def _shared_memory(folder: Path = Path("/dev/shm")) -> Fact:
    try:
        total = shutil.disk_usage(folder).total
    except OSError:
        return Fact("machine", "shared memory", "missing", "no /dev/shm on this system")
    value = f"{total / _GIB:.1f} GiB in {folder}"
    if total < 512 * _MIB:  # Docker gives 64 MiB, and the processes that load data die of it.
        advice = "start the container with --shm-size=8g, or --ipc=host"
        return Fact("machine", "shared memory", "problem", value, advice)
    return Fact("machine", "shared memory", "ok", value)


def _torch(torch: TorchFacts) -> Fact:
    if "No module named 'torch'" in torch.error:
        advice = "pip install 'trainferry[train]'"
        return Fact("packages", "torch", "problem", "not installed", advice)
    if torch.error:
        advice = "install torch anew; the line above is what `import torch` says"
        return Fact("packages", "torch", "problem", torch.error, advice)
    if parse_version(torch.version) < OLDEST_TORCH:
        wanted = ".".join(map(str, OLDEST_TORCH))
        return Fact(
            "packages", "torch", "problem", torch.version, f"install torch {wanted} or newer"
        )
    build = f"CUDA {torch.cuda}" if torch.cuda else "no CUDA"
    return Fact("packages", "torch", "ok", f"{torch.version} ({build})")


def _package(name: str, needed_for: str, *, required: bool) -> Fact:
    for installed in (name, *_SAME_PACKAGE.get(name, ())):
        try:
            version = metadata.version(installed)
        except metadata.PackageNotFoundError:
            continue
        return Fact("packages", name, "ok", f"{version} (for {needed_for})")
    state: State = "problem" if required else "missing"
    return Fact("packages", name, state, f"not installed (for {needed_for})", f"pip install {name}")
