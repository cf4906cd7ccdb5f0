"""`train`, `evaluate` and `benchmark` on an NPU name the operators that ran on the CPU."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.train.word_data import TINY, make_word_data
from trainferry.cli.main import main
from trainferry.train.journal import read_journal

SETS = [part for override in TINY for part in ("--set", override)]
WARNING = (
    b"[W compiler_depend.ts:51] Warning: CAUTION: The operator 'aten::thnn_conv2d' is not "
    b"currently supported on the NPU backend and will fall back to run on the CPU. This may have "
    b"performance implications. (function npu_cpu_fallback)\n"
)
SAID = "note: 1 operator ran on the CPU, with copies there and back, since the NPU has none: "


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_word_data(tmp_path_factory.mktemp("words"), train=24, val=8)


@pytest.fixture
def conv_on_cpu(emulated_npu: torch.device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let convolutions on the emulated NPU warn as torch_npu does: from C++, past Python."""
    plain: Callable[..., torch.Tensor] = torch.nn.Conv2d.forward

    def forward(self: torch.nn.Conv2d, pictures: torch.Tensor) -> torch.Tensor:
        if pictures.device.type == emulated_npu.type:
            os.write(2, WARNING)
        return plain(self, pictures)

    monkeypatch.setattr(torch.nn.Conv2d, "forward", forward)


def train(data: Path, run: Path, device: str, *more: str) -> int:
    command = ["train", "crnn_small", "--data", str(data), "--run", str(run), *SETS]
    return main([*command, "--device", device, *more])


@pytest.mark.usefixtures("conv_on_cpu")
def test_a_training_ends_with_them_and_the_journal_keeps_them(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(data, tmp_path / "run", "npu", "--json") == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["cpu_operators"] == ["aten::thnn_conv2d"]
    assert shown.err.count(f"{SAID}aten::thnn_conv2d\n") == 1
    *_, ended = read_journal(tmp_path / "run")
    assert (ended["event"], ended["cpu_operators"]) == ("ended", ["aten::thnn_conv2d"])

    command = ["evaluate", str(tmp_path / "run"), "--data", str(data), "--device", "npu", "--json"]
    assert main(command) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["cpu_operators"] == ["aten::thnn_conv2d"]
    assert shown.err.count(SAID) == 1


@pytest.mark.usefixtures("conv_on_cpu")
def test_a_benchmark_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["benchmark", "crnn_small", "--batch", "4", "--steps", "1", *SETS]
    assert main([*command, "--device", "npu", "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["cpu_operators"] == ["aten::thnn_conv2d"]
    assert shown.err.count(SAID) == 1


@pytest.mark.usefixtures("conv_on_cpu")
def test_nothing_is_said_of_the_cpu_itself(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(data, tmp_path / "run", "cpu", "--json") == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["cpu_operators"] == []
    assert "ran on the CPU" not in shown.err


def test_a_silenced_torch_npu_is_told(
    emulated_npu: torch.device, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TORCH_NPU_WARNING_DISABLE", "1")
    command = ["benchmark", "crnn_small", "--batch", "4", "--steps", "1", *SETS]
    assert main([*command, "--device", str(emulated_npu), "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["cpu_operators"] is None
    assert "it is not known whether operators ran on the CPU" in shown.err
