"""Facts about the accelerators of this machine: what torch sees, and why it sees no more."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

from trainferry.devices import ascend
from trainferry.devices.fact import Fact, parse_version
from trainferry.devices.torch_probe import TorchFacts

_NVIDIA_DRIVER_FILE = Path("/proc/driver/nvidia/version")
_LAST_CANN_FOR_NUMPY_1 = (8, 2)
_GIB = 1024**3


def accelerator_facts(torch: TorchFacts) -> list[Fact]:
    return [*_usable(torch), *_nvidia(torch), *_ascend(torch)]


def _usable(torch: TorchFacts) -> list[Fact]:
    found = [
        Fact("devices", each.device, "ok", f"{each.name}, {each.memory_bytes / _GIB:.0f} GiB")
        for each in torch.accelerators
    ]
    if torch.error:
        return []
    return found or [Fact("devices", "accelerator", "missing", "none; training runs on the CPU")]


def _nvidia(torch: TorchFacts) -> list[Fact]:
    driver = _nvidia_driver()
    if driver is None:
        return [Fact("devices", "NVIDIA driver", "missing", "none")]
    facts = [Fact("devices", "NVIDIA driver", "ok", driver)]
    if torch.error or any(each.device.startswith("cuda") for each in torch.accelerators):
        return facts
    if torch.cuda is None:
        value, advice = "torch has no CUDA in it", "install a CUDA build of torch (pytorch.org)"
    else:
        value = f"torch wants CUDA {torch.cuda} and finds no device"
        advice = "look at `nvidia-smi`: update the driver, or give this container the GPU"
    return [*facts, Fact("devices", "CUDA", "problem", value, advice)]


def _nvidia_driver() -> str | None:
    try:
        text = _NVIDIA_DRIVER_FILE.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _ask_nvidia_smi()
    version = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", text)
    return version[1] if version else "version unknown"


def _ask_nvidia_smi() -> str | None:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    command = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "version unknown: nvidia-smi gives no answer"
    version = done.stdout.strip().partition("\n")[0]
    return version if done.returncode == 0 and version else "version unknown: nvidia-smi failed"


def _ascend(torch: TorchFacts) -> list[Fact]:
    torch_npu, cann = ascend.torch_npu_version(), ascend.cann_version()
    driver, folder = ascend.driver_version(), ascend.find_cann()
    if not (torch_npu or cann or driver or folder or ascend.npu_smi()):
        return [Fact("devices", "Ascend", "missing", "no driver, CANN or torch_npu")]
    return [
        _driver(driver),
        _cann(cann, folder is not None),
        _torch_npu(torch_npu, torch),
        *_numpy_for_cann(cann),
    ]


def _driver(version: str | None) -> Fact:
    if version and ascend.npu_smi():
        return Fact("devices", "Ascend driver", "ok", version)
    if version:
        advice = "in a container, mount npu-smi and /usr/local/Ascend/driver from the host"
        return Fact("devices", "Ascend driver", "problem", f"{version}, but no npu-smi", advice)
    return Fact(
        *("devices", "Ascend driver", "problem", "none"),
        "install the NPU driver and firmware; in a container, mount /usr/local/Ascend/driver",
    )


def _cann(version: str | None, libraries: bool) -> Fact:
    if not libraries:
        value = f"{version}, but no runtime library" if version else "none"
        return Fact("devices", "CANN", "problem", value, "install the CANN toolkit and kernels")
    value = version or "version unknown"
    if not ascend.runtime_loads():
        advice = "run `source /usr/local/Ascend/ascend-toolkit/set_env.sh` first"
        return Fact("devices", "CANN", "problem", f"{value}, not on the library path", advice)
    return Fact("devices", "CANN", "ok", value)


def _torch_npu(version: str | None, torch: TorchFacts) -> Fact:
    wanted = ".".join(map(str, parse_version(torch.version)[:2]))
    if version is None:
        advice = f"pip install 'torch_npu=={wanted}.*'" if wanted else "install torch_npu"
        return Fact("devices", "torch_npu", "problem", "none", advice)
    if wanted and parse_version(version)[:2] != parse_version(torch.version)[:2]:
        value = f"{version} does not fit torch {torch.version}"
        advice = f"pip install 'torch_npu=={wanted}.*'"
        return Fact("devices", "torch_npu", "problem", value, advice)
    return Fact("devices", "torch_npu", "ok", version)


def _numpy_for_cann(cann: str | None) -> list[Fact]:
    try:
        numpy = metadata.version("numpy")
    except metadata.PackageNotFoundError:
        return []
    known = parse_version(cann or "")
    if not known or known[:2] > _LAST_CANN_FOR_NUMPY_1 or parse_version(numpy) < (2,):
        return []
    value = f"{numpy}, but operators of CANN {cann} were written for numpy 1"
    return [Fact("devices", "numpy for CANN", "problem", value, "pip install 'numpy<2'")]
