"""Choosing and describing devices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from trainferry.devices.crowd import SHARE
from trainferry.devices.device import (
    KINDS,
    channels_last_helps,
    choose_device,
    describe_device,
    fused_optimizer_available,
    leave_cores,
    name_device,
    peak_memory,
    pinned_memory_helps,
    prepare,
    seed_device,
    synchronize,
    total_memory_bytes,
)
from trainferry.errors import DeviceError

SOURCE = Path(__file__).resolve().parents[2] / "src"
CPU = torch.device("cpu")
HAS_GPU = choose_device("auto").type == "cuda"


def test_the_cpu_is_always_there() -> None:
    assert choose_device("cpu") == CPU


@pytest.mark.skipif(HAS_GPU, reason="this machine has a GPU")
def test_never_falls_back_to_another_device() -> None:
    with pytest.raises(DeviceError, match="no `cuda` device on this machine; found: `cpu`") as told:
        choose_device("cuda")
    assert "trainferry doctor" in told.value.hint


@pytest.mark.parametrize("asked", ["gpu", "", "cuda:", "cuda:one", "cuda:-1", "auto:1", "CPU"])
def test_a_misspelt_device_is_no_device(asked: str) -> None:
    with pytest.raises(DeviceError, match="is not a device") as told:
        choose_device(asked)
    assert "auto, cpu, cuda, npu" in told.value.hint


@pytest.mark.cuda
@pytest.mark.skipif(not HAS_GPU, reason="needs an NVIDIA GPU")
def test_a_number_past_the_last_device_is_an_error() -> None:
    with pytest.raises(DeviceError, match=r"no `cuda:99` on this machine"):
        choose_device("cuda:99")


@pytest.mark.cuda
@pytest.mark.skipif(not HAS_GPU, reason="needs an NVIDIA GPU")
def test_auto_takes_the_gpu_and_its_line_names_it() -> None:
    device = choose_device("auto")
    assert device == torch.device("cuda:0")
    assert name_device(device) in describe_device(device)
    synchronize(device)
    torch.ones(2**20, device=device)
    peak = peak_memory(device)
    assert peak is not None
    assert 2**22 <= peak.held_bytes <= peak.taken_bytes


def test_the_line_about_the_cpu_counts_its_threads() -> None:
    threads = torch.get_num_threads()
    word = "thread" if threads == 1 else "threads"
    assert describe_device(CPU) == f"device: cpu ({threads} {word}), torch {torch.__version__}"


@pytest.mark.parametrize(
    ("device", "given", "threads"),
    [
        ("cuda", {}, [1]),
        ("cpu", {}, []),
        ("cuda", {"OMP_NUM_THREADS": "4"}, []),
        ("cuda", {"OMP_NUM_THREADS": "4", SHARE: "4"}, [1]),  # by `launch`
        ("cuda", {"OMP_NUM_THREADS": "2", SHARE: "4"}, []),  # and by `--env` all the same
        ("cpu", {"OMP_NUM_THREADS": "4", SHARE: "4"}, []),
    ],
)
def test_a_program_beside_a_device_computes_with_one_thread(
    monkeypatch: pytest.MonkeyPatch, device: str, given: dict[str, str], threads: list[int]
) -> None:
    chosen: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    for name in ("OMP_NUM_THREADS", SHARE):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    leave_cores(torch.device(device))
    assert chosen == threads


def test_an_emulated_npu_has_the_threads_of_the_cpu(
    monkeypatch: pytest.MonkeyPatch, emulated_npu: torch.device
) -> None:
    monkeypatch.setattr(torch, "set_num_threads", lambda _: pytest.fail("changed"))
    leave_cores(emulated_npu)


def test_an_emulated_npu_is_found_only_by_those_who_ask_for_it(emulated_npu: torch.device) -> None:
    assert choose_device("npu") == choose_device("npu:0") == emulated_npu
    assert choose_device("auto").type != "npu"
    with pytest.raises(DeviceError, match="no `npu:1` on this machine; found: `cpu`, `npu:0`"):
        choose_device("npu:1")


def test_the_emulated_npu_says_what_it_is(emulated_npu: torch.device) -> None:
    assert describe_device(emulated_npu).startswith("device: npu:0 (emulated on the CPU), torch 2")
    assert not pinned_memory_helps(emulated_npu)
    assert peak_memory(emulated_npu) is None
    assert total_memory_bytes(emulated_npu) is None
    synchronize(emulated_npu)


@pytest.mark.slow
def test_without_the_variable_there_is_no_npu_and_with_it_there_is() -> None:
    program = (
        "import os\n"
        "from trainferry.devices.device import choose_device, describe_device\n"
        "from trainferry.errors import DeviceError\n"
        "try:\n    choose_device('npu')\n"
        "except DeviceError as error:\n    print(error)\n"
        "os.environ['TRAINFERRY_EMULATED_NPU'] = '1'\n"
        "print(choose_device('auto').type)\n"
        "print(describe_device(choose_device('npu')))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    environment.pop("TRAINFERRY_EMULATED_NPU", None)
    lines = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert lines[0].startswith("no `npu` device on this machine; found: `cpu`")
    assert lines[1] != "npu"
    assert lines[2].startswith("device: npu:0 (emulated on the CPU)")


def test_seeding_makes_random_numbers_repeat() -> None:
    seed_device(7, CPU)
    first = torch.rand(4)
    seed_device(7, CPU)
    assert torch.equal(first, torch.rand(4))


def test_the_cpu_needs_no_tuning() -> None:
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.benchmark
    prepare(CPU, "bf16")
    assert (torch.get_float32_matmul_precision(), torch.backends.cudnn.benchmark) == before
    synchronize(CPU)
    assert peak_memory(CPU) is None


def test_the_table_answers_for_every_kind(emulated_npu: torch.device) -> None:
    assert list(KINDS) == ["cpu", "cuda", "npu"]
    assert [channels_last_helps(each) for each in (CPU, emulated_npu)] == [True, True]
    assert [fused_optimizer_available(each) for each in (CPU, emulated_npu)] == [False, False]
    assert fused_optimizer_available(torch.device("cuda"))
    assert pinned_memory_helps(torch.device("cuda"))
