"""What is known of an Ascend machine without importing torch: CANN, driver, torch_npu."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

INSTALL_ROOT = Path("/usr/local/Ascend")

_RUNTIME_LIBRARIES = ("libhccl.so", "libascendcl.so")
_HOME_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
_MACHINES = ("aarch64-linux", "x86_64-linux")
_VERSION_FILES = ("ascend_toolkit_install.info", "ascend_nnae_install.info", "version.cfg")


def torch_npu_version() -> str | None:
    """The version of the installed torch_npu, which is not imported."""
    try:
        return metadata.version("torch_npu")
    except metadata.PackageNotFoundError:
        return None


def find_cann() -> Path | None:
    """The folder that holds CANN's runtime libraries, whether the loader would find them or not."""
    for folder in (*_library_path(), *_library_folders()):
        if _holds_runtime(folder):
            return folder
    return None


def runtime_loads() -> bool:
    """Whether the dynamic loader finds CANN, as it must when torch_npu is imported."""
    if any(_holds_runtime(folder) for folder in _library_path()):
        return True
    try:
        ctypes.CDLL(_RUNTIME_LIBRARIES[0])
    except OSError:
        return False
    return True


def cann_version() -> str | None:
    """The version that CANN's own files state."""
    for home in _homes():
        for folder in (home, *(home / machine for machine in _MACHINES)):
            for name in _VERSION_FILES:
                if version := _stated_version(folder / name):
                    return version
    return None


def driver_version() -> str | None:
    """The version of the NPU's kernel driver."""
    return _stated_version(INSTALL_ROOT / "driver" / "version.info")


def npu_smi() -> str | None:
    """The path of the driver's status tool."""
    return shutil.which("npu-smi")


def _library_path() -> list[Path]:
    return [Path(part) for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part]


def _holds_runtime(folder: Path) -> bool:
    return any((folder / name).exists() for name in _RUNTIME_LIBRARIES)


def _homes() -> list[Path]:
    named = [Path(value) for name in _HOME_VARIABLES if (value := os.environ.get(name))]
    standard = [INSTALL_ROOT / name / "latest" for name in ("ascend-toolkit", "nnrt", "nnae")]
    return [*named, *standard, INSTALL_ROOT / "cann"]


def _library_folders() -> Iterator[Path]:
    for home in _homes():
        yield from (home / "lib64", home / "runtime" / "lib64")
        yield from (home / machine / "lib64" for machine in _MACHINES)


def _stated_version(path: Path) -> str | None:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # `version=8.0.RC2`, `Version=24.1.rc1` or `runtime_running_version=[7.6.0.1.220:8.0.RC2]`
    plain = re.search(r"^\s*version\s*=\s*([\w.+-]+)", text, re.IGNORECASE | re.MULTILINE)
    listed = re.search(r"running_version\s*=\s*\[(?:[^\]:]*:)?([^\]]+)\]", text)
    stated = plain or listed
    return stated[1] if stated else None
