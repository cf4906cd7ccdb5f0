"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import torch

# Tests run side by side: threads that wait for each other's cores make a step of
# milliseconds take a second. The processes that tests start inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Reference data kept beside the repository; most machines do not have it."""
    if not (SHARED / "golden").is_dir():
        pytest.skip("needs the reference data in ../shared, which is not part of the project")
    return SHARED


def pytest_configure(config: pytest.Config) -> None:
    """Install the emulated NPU before anything trains: autograd counts the devices only once.

    Not for `-m cuda`: with two accelerators in a process, autograd asks the wrong one for streams.
    """
    import torch

    from trainferry.devices.emulated_npu import install_emulated_npu

    torch.set_num_threads(1)
    if config.getoption("markexpr") == "cuda":
        return
    if torch._C._get_privateuse1_backend_name() == "privateuseone":
        install_emulated_npu()


@pytest.fixture(scope="session")
def emulated_npu() -> torch.device:
    """The emulated NPU; `auto` never means it."""
    import torch

    from trainferry.devices.emulated_npu import is_installed

    if not is_installed():
        pytest.skip("a real NPU backend is loaded")
    return torch.device("npu:0")
