"""What the doctor finds on machines of several kinds."""

from __future__ import annotations

import os
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from trainferry.devices import accelerator_facts, ascend, facts
from trainferry.devices.fact import Fact, parse_version
from trainferry.devices.torch_probe import Accelerator, TorchFacts, probe_torch

CPU_TORCH = TorchFacts(version="2.13.0+cpu")
GPU = Accelerator("cuda:0", "NVIDIA H200", 139 * 1024**3)
ASCEND_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "LD_LIBRARY_PATH")


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any accelerator; the folder is where CANN would be installed."""
    for variable in ASCEND_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(ascend, "INSTALL_ROOT", tmp_path / "Ascend")
    monkeypatch.setattr(ascend, "torch_npu_version", lambda: None)
    monkeypatch.setattr(accelerator_facts, "_NVIDIA_DRIVER_FILE", tmp_path / "nvidia")
    return tmp_path


def look(monkeypatch: pytest.MonkeyPatch, torch: TorchFacts) -> dict[str, Fact]:
    monkeypatch.setattr(facts, "probe_torch", lambda: torch)
    return {fact.name: fact for fact in facts.find_facts(Path.cwd())}


def test_a_machine_without_accelerator_can_train(monkeypatch: pytest.MonkeyPatch) -> None:
    found = look(monkeypatch, CPU_TORCH)
    assert facts.can_train(list(found.values()))
    assert found["accelerator"].state == "missing"
    assert found["torch"].value == "2.13.0+cpu (no CUDA)"
    assert {"NVIDIA driver", "Ascend"} <= found.keys()


def test_a_gpu_is_named_with_its_memory(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bare_machine / "nvidia").write_text("NVRM version: NVIDIA UNIX x86_64  580.95.05  Release\n")
    found = look(monkeypatch, TorchFacts("2.11.0+cu130", "13.0", (GPU,)))
    assert found["cuda:0"] == Fact("devices", "cuda:0", "ok", "NVIDIA H200, 139 GiB")
    assert found["NVIDIA driver"].value == "580.95.05"
    assert "CUDA" not in found


@pytest.mark.parametrize(
    ("torch", "advice"),
    [
        (CPU_TORCH, "install a CUDA build of torch"),
        (TorchFacts("2.11.0+cu130", "13.0"), "nvidia-smi"),
    ],
)
def test_a_gpu_that_torch_cannot_use_is_a_problem(
    torch: TorchFacts, advice: str, bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bare_machine / "nvidia").write_text("NVRM version: NVIDIA UNIX x86_64  580.95.05  Release\n")
    found = look(monkeypatch, torch)
    assert found["CUDA"].state == "problem"
    assert advice in found["CUDA"].advice
    assert facts.can_train(list(found.values()))


@pytest.mark.parametrize(
    ("error", "value"),
    [
        ("ModuleNotFoundError: No module named 'torch'", "not installed"),
        ("ImportError: libc10.so: cannot open", "ImportError: libc10.so: cannot open"),
    ],
)
def test_without_torch_training_cannot_run(
    error: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = look(monkeypatch, TorchFacts(error=error))
    assert found["torch"].state == "problem"
    assert found["torch"].value == value
    assert found["torch"].advice
    assert not facts.can_train(list(found.values()))


def test_an_old_torch_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert look(monkeypatch, TorchFacts("2.8.1"))["torch"].advice == "install torch 2.9 or newer"


def test_a_whole_ascend_machine_is_recognised(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install_cann(bare_machine, "8.5.0", monkeypatch)
    monkeypatch.setattr(ascend, "torch_npu_version", lambda: "2.13.0.post1")
    found = look(monkeypatch, CPU_TORCH)
    states = {name: found[name].state for name in ("Ascend driver", "CANN", "torch_npu")}
    assert states == {"Ascend driver": "ok", "CANN": "ok", "torch_npu": "ok"}
    assert found["Ascend driver"].value == "25.2.0"
    assert found["CANN"].value == "8.5.0"
    assert "numpy for CANN" not in found


def test_torch_npu_of_another_version_is_told_with_the_command(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install_cann(bare_machine, "8.5.0", monkeypatch)
    monkeypatch.setattr(ascend, "torch_npu_version", lambda: "2.7.1")
    found = look(monkeypatch, CPU_TORCH)["torch_npu"]
    assert found.state == "problem"
    assert found.advice == "pip install 'torch_npu==2.13.*'"


def test_an_old_cann_wants_an_old_numpy(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install_cann(bare_machine, "8.0.RC2", monkeypatch)
    monkeypatch.setattr(metadata, "version", lambda _name: "2.1.0")
    assert look(monkeypatch, CPU_TORCH)["numpy for CANN"].advice == "pip install 'numpy<2'"


def test_cann_that_was_not_sourced_is_told(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install_cann(bare_machine, "8.5.0", monkeypatch)
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert "set_env.sh" in look(monkeypatch, CPU_TORCH)["CANN"].advice


def test_torch_npu_alone_names_everything_that_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ascend, "torch_npu_version", lambda: "2.13.0")
    found = look(monkeypatch, CPU_TORCH)
    assert found["CANN"].state == found["Ascend driver"].state == "problem"
    assert found["torch_npu"].state == "ok"


def test_a_missing_package_says_what_it_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_installed(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", nothing_installed)
    found = look(monkeypatch, CPU_TORCH)
    assert found["simplejpeg"].state == "missing"
    assert found["simplejpeg"].advice == "pip install simplejpeg"
    assert found["numpy"].state == "problem"
    assert not facts.can_train(list(found.values()))


def test_another_build_of_opencv_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_opencv(name: str) -> str:
        if name == "opencv-python":
            return "5.0.0"
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", only_opencv)
    assert look(monkeypatch, CPU_TORCH)["opencv-python-headless"].state == "ok"


def test_little_room_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = total = 64 * 1024**2

    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: Usage)
    found = look(monkeypatch, CPU_TORCH)
    assert found["disk"].state == "problem"
    assert "--shm-size" in found["shared memory"].advice


def test_an_odd_system_is_described_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> int:
        raise OSError(1, "not here")

    monkeypatch.setattr(shutil, "disk_usage", refuse)
    monkeypatch.setattr(os, "sysconf", refuse)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    found = look(monkeypatch, CPU_TORCH)
    assert [found[name].state for name in ("disk", "memory", "shared memory")] == ["missing"] * 3


@pytest.mark.parametrize(
    ("text", "version"),
    [("2.13.0+cpu", (2, 13, 0)), ("8.0.RC2", (8, 0)), ("", ()), ("unknown", ())],
)
def test_versions_are_read_up_to_the_first_word(text: str, version: tuple[int, ...]) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("program", "error"),
    [
        ("raise ImportError('libcuda.so is odd')", "ImportError: libcuda.so is odd"),
        ("import os; os._exit(139)", "exit status 139"),
        (
            r"import os; os.write(2, b'caf\xe9 gone'); os._exit(1)",
            "caf\N{REPLACEMENT CHARACTER} gone",
        ),
        ("import time; time.sleep(60)", "`import torch` did not end within 1 seconds"),
    ],
)
def test_a_torch_that_fails_crashes_or_hangs_is_survived(
    program: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "torch.py").write_text(program)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "broken"))
    seconds = 1.0 if "sleep" in program else 60.0
    assert probe_torch(timeout_seconds=seconds).error == error


@pytest.mark.slow
def test_the_torch_that_is_here_answers() -> None:
    answer = probe_torch()
    assert answer.error == ""
    assert answer.version == torch_version()


def torch_version() -> str:
    import torch

    return torch.__version__


def _install_cann(machine: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home = machine / "Ascend" / "ascend-toolkit" / "latest"
    (home / "lib64").mkdir(parents=True)
    (home / "lib64" / "libhccl.so").touch()
    (home / "aarch64-linux").mkdir()
    (home / "aarch64-linux" / "ascend_toolkit_install.info").write_text(
        f"package_name=Ascend-cann-toolkit\nversion={version}\n"
    )
    (machine / "Ascend" / "driver").mkdir()
    (machine / "Ascend" / "driver" / "version.info").write_text("Version=25.2.0\n")
    (machine / "bin").mkdir()
    (machine / "bin" / "npu-smi").write_text("#!/bin/sh\n")
    (machine / "bin" / "npu-smi").chmod(0o755)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(home / "lib64"))
