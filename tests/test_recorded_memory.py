"""Streams of a recorded step wait for each other, seen without a GPU; who would not is told."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from trainferry.devices.lanes import Beside
{change}
import recorded_memory
sys.exit(recorded_memory.main())
"""
NOBODY_WAITS = "Beside.join = lambda self: None"
NOTHING_IS_HELD = """
add_gradient = Beside.add_gradient
Beside.add_gradient = lambda self, weight, make, reads: add_gradient(self, weight, make, ())
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("triton") is None, reason="needs Triton"),
    pytest.mark.skipif("TRITON_INTERPRET" in os.environ, reason="the interpreter starts programs"),
]


@pytest.mark.parametrize(
    ("case", "precision"),
    [
        *((case, "bf16") for case in ("crnn:4", "resnet50:2", "densenet121:2", "hrnet_w18:2")),
        *(("attention_ocr:2", precision) for precision in ("bf16", "fp16")),
    ],
)
def test_streams_wait_and_memory_is_handed_on_in_time(case: str, precision: str) -> None:
    done = _record(case, precision=precision)
    assert done.returncode == 0, done.stderr
    row = done.stdout.splitlines()[-1].split("|")
    assert row[1].strip() == case.replace(":", ", ")
    before, held, taken, expandable = map(float, row[2:6])
    assert before > 0
    assert 0 < held <= min(expandable, taken)
    assert int(row[-3]) > 1, "only one stream did anything"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (NOBODY_WAITS, "times read before it is written: "),
        (NOTHING_IS_HELD, "memory is used again too early: "),
    ],
)
def test_whoever_does_not_wait_is_told(change: str, told: str) -> None:
    done = _record("resnet50:2", change)
    assert done.returncode == 1, done.stderr
    assert told in done.stderr


def _record(
    case: str, change: str = "", precision: str = "bf16"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *(sys.executable, "-c", PROGRAM.format(change=change)),
            *(str(ROOT / "benchmarks"), "--only", case, "--precision", precision),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
