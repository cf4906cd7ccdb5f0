"""Kernels as a GPU gets them, which Triton's interpreter never sees: all of them compile."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "compile_kernels.py"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("triton") is None, reason="needs Triton"),
    pytest.mark.skipif("TRITON_INTERPRET" in os.environ, reason="the interpreter compiles nothing"),
    pytest.mark.skipif(platform.system() != "Linux", reason="needs the assembler of Triton"),
]


@pytest.mark.parametrize(
    ("architecture", "precision", "case"),
    [
        *((90, "bf16", case) for case in ("crnn:64", "attention_ocr:32", "resnet50:32")),
        *((90, "bf16", case) for case in ("densenet121:32", "hrnet_w18:32", "cut:256")),
        *((75, "fp16", case) for case in ("crnn:64", "resnet50:32")),
    ],
)
def test_all_kernels_of_a_step_compile_and_would_start(
    architecture: int, precision: str, case: str
) -> None:
    command = [sys.executable, str(SCRIPT), "--only", case, "--precision", precision]
    command += ["--architecture", str(architecture)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "| variants |" in done.stdout
