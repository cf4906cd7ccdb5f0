"""An NPU that is not there: device "npu" whose every operator runs on the CPU.

For tests and rehearsals of the training path, never for training. Its tensors
are plain tensors with real storage, so views, in-place changes and autograd work
as on any device. Random operators draw from the CPU's default generator, and
autocast follows the CPU's lists, so a run gives the same numbers on both devices.
"""

from __future__ import annotations

import functools
from contextlib import nullcontext
from types import ModuleType

import torch

from trainferry.devices import emulated_graph
from trainferry.devices.emulated_autocast import register_autocast
from trainferry.devices.emulated_kernels import Value, register_kernels, to_npu
from trainferry.errors import DeviceError

# torch forgets what a library registered when the library is collected.
_libraries: list[torch.library.Library] = []


def install_emulated_npu() -> None:
    """Make device "npu" usable in this process; it stays until the process ends."""
    if is_installed():
        return
    backend = torch._C._get_privateuse1_backend_name()
    if backend != "privateuseone":
        raise DeviceError(
            f"the NPU cannot be emulated: torch has loaded the backend `{backend}`",
            hint="unset TRAINFERRY_EMULATED_NPU to use the real device",
        )
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    _setup_privateuseone_for_python_backend("npu", backend_module=_device_module())
    _answer_for_accelerator()
    # Before torch's own readers (priorities 10 to 30): those ask for an allocator we do not have.
    torch.serialization.register_package(5, _no_tag, _load_storage)
    _libraries.extend([*register_kernels(), *register_autocast()])


def is_installed() -> bool:
    return bool(_libraries)


def _device_module() -> ModuleType:
    """What `torch.npu` is asked for: one device that is always ready and has no memory."""
    module = ModuleType("torch.npu")
    answers: dict[str, object] = {
        "is_available": True,
        "is_initialized": True,
        "_is_in_bad_fork": False,
        "current_device": 0,
        "device_count": 1,
        "set_device": None,
        "manual_seed": None,
        "manual_seed_all": None,  # torch.manual_seed has seeded the CPU's generator already
        "get_device_name": "emulated on the CPU",
        "get_amp_supported_dtype": [torch.float16, torch.bfloat16],
        "get_rng_state": torch.empty(0, dtype=torch.uint8),
        "set_rng_state": None,
        "device": nullcontext(),
        **_WITHOUT_MEMORY,
    }
    for name, answer in answers.items():
        setattr(module, name, functools.partial(_answer, answer))
    for name in _OF_GRAPHS:
        setattr(module, name, getattr(emulated_graph, name))
    return module


def _answer_for_accelerator() -> None:
    """Answer in Python what `torch.accelerator` asks of C++ that no Python backend can offer."""
    for name, answer in _WITHOUT_MEMORY.items():
        setattr(torch.accelerator, name, functools.partial(_answer, answer))


_OF_GRAPHS = (
    *("Event", "NPUGraph", "Stream", "current_stream", "graph", "is_current_stream_capturing"),
    *("make_graphed_callables", "stream"),
)
_WITHOUT_MEMORY: dict[str, object] = {
    "synchronize": None,
    "empty_cache": None,
    "memory_allocated": 0,
    "max_memory_allocated": 0,
    "memory_reserved": 0,
    "max_memory_reserved": 0,
    "reset_peak_memory_stats": None,
}


def _no_tag(_storage: object) -> None:
    """Leave the name written beside a saved storage to torch."""


def _load_storage(storage: Value, location: str) -> torch.UntypedStorage | None:
    if not location.startswith("npu"):
        return None
    return to_npu(torch.empty(0, dtype=torch.uint8).set_(storage)).untyped_storage()


def _answer(answer: object, *_arguments: object, **_named: object) -> object:
    return answer
