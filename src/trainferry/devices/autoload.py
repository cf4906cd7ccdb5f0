"""Keeps `import torch` alive on machines that have torch_npu but no NPU runtime.

torch loads every installed backend while it is imported. torch_npu without CANN
fails there, and takes torch with it. This file needs the standard library only,
and has to run before anything imports torch.
"""

from __future__ import annotations

import os

from trainferry.devices import ascend

AUTOLOAD_VARIABLE = "TORCH_DEVICE_BACKEND_AUTOLOAD"


def guard_autoload() -> str | None:
    """Switch torch's backend loading off where it would fail; return what to tell the user."""
    version = ascend.torch_npu_version()
    if version is None or AUTOLOAD_VARIABLE in os.environ or ascend.runtime_loads():
        return None
    os.environ[AUTOLOAD_VARIABLE] = "0"
    return (
        f"torch_npu {version} is installed, but {_why()}. "
        f"torch was kept from loading it ({AUTOLOAD_VARIABLE}=0); there is no `npu` device."
    )


def _why() -> str:
    if folder := ascend.find_cann():
        return f"CANN in {folder} is not on the library path: source its set_env.sh"
    return "no CANN runtime was found: install CANN and source its set_env.sh"
