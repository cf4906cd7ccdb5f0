"""What torch says about itself and its devices, asked in a process of its own.

A broken driver can make `import torch` raise, hang or crash; whoever asks must
not go down with it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_PACKAGE_PARENT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Accelerator:
    """One device that torch can use."""

    device: str
    name: str
    memory_bytes: int


@dataclass(frozen=True)
class TorchFacts:
    """What torch says; `error` is set, and the rest empty, when it cannot be imported."""

    version: str = ""
    cuda: str | None = None
    accelerators: tuple[Accelerator, ...] = ()
    error: str = ""


def probe_torch(timeout_seconds: float = 120.0) -> TorchFacts:
    """Import torch in another process and return what it finds there."""
    path = [str(_PACKAGE_PARENT), *filter(None, [os.environ.get("PYTHONPATH")])]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "trainferry.devices.torch_probe"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return TorchFacts(error=f"`import torch` did not end within {timeout_seconds:.0f} seconds")
    if done.returncode != 0:
        return TorchFacts(error=_last_line(done.stderr) or f"exit status {done.returncode}")
    return _parse(json.loads(done.stdout.splitlines()[-1]))


def _parse(answer: dict[str, Any]) -> TorchFacts:
    found = tuple(Accelerator(**each) for each in answer.pop("accelerators"))
    return TorchFacts(**answer, accelerators=found)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def _answer() -> None:
    import torch

    from trainferry.devices.device import find_accelerators, name_device, total_memory_bytes

    found = tuple(
        Accelerator(str(each), name_device(each), total_memory_bytes(each) or 0)
        for each in find_accelerators()
    )
    facts = TorchFacts(version=torch.__version__, cuda=torch.version.cuda, accelerators=found)
    sys.stdout.write("\n" + json.dumps(asdict(facts)) + "\n")


if __name__ == "__main__":
    _answer()
