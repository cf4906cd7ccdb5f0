"""Which devices run kernels of our own, written in Triton."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor
from torch.utils import _python_dispatch

from trainferry.devices.device import is_emulated

VARIABLE = "TRAINFERRY_KERNELS"  # "off" leaves everything to torch
_DEVICES = ("cuda",)
_FORMATS = (torch.float32, torch.bfloat16, torch.float16)
_QUICK_TANH = (7, 5)  # the first NVIDIA architecture that has it
_HOPPER = 9  # NVIDIA's number of the architecture, before the dot
_CHAINS = (9, 0)  # the first NVIDIA architecture that can


def runs_kernels(tensor: Tensor) -> bool:
    """Whether a kernel can take this tensor; without Triton the plain path does everything.

    Kernels compute in single precision: double precision is the plain path's too. So is all that
    is watched: the modes of torch see every operator, and a kernel is none.
    """
    return tensor.dtype in _FORMATS and runs_kernels_on(tensor.device)


def runs_kernels_on(device: torch.device) -> bool:
    """Whether kernels run on a device at all, and now: for those that read bytes."""
    is_watched = _python_dispatch._get_current_dispatch_mode() is not None
    if is_watched or torch.compiler.is_compiling():
        return False
    if device.type in _DEVICES:
        return _has_triton()
    return _interprets() and device.type == "cpu" and not is_emulated(device)


def has_quick_tanh(tensor: Tensor) -> bool:
    """Whether a kernel may use the device's own tanh: only where values are rounded as much."""
    is_half = tensor.dtype in (torch.bfloat16, torch.float16)
    if not is_half or tensor.device.type not in _DEVICES or _interprets():
        return False
    return torch.cuda.get_device_capability(tensor.device) >= _QUICK_TANH


def chains_kernels(tensor: Tensor) -> bool:
    """Whether a kernel can be started, to wait, before the one in front of it is through."""
    if tensor.device.type not in _DEVICES or _interprets():
        return False
    return torch.cuda.get_device_capability(tensor.device) >= _CHAINS


@cache
def large_programs_at_once(device: torch.device) -> int:
    """How many programs run at the same time if each takes a processor and its memory.

    None on what is no Hopper: older ones have less memory, and for newer ones Triton does not
    compile all of these programs. One in Triton's interpreter.
    """
    if device.type not in _DEVICES or _interprets():
        return 1
    facts = torch.cuda.get_device_properties(device)
    return int(facts.multi_processor_count) if facts.major == _HOPPER else 0


@cache
def _has_triton() -> bool:
    return os.environ.get(VARIABLE) != "off" and find_spec("triton") is not None


@cache
def _interprets() -> bool:
    """Triton's own switch for running kernels on a CPU, one element after the other: for tests."""
    return os.environ.get("TRITON_INTERPRET") == "1" and _has_triton()
