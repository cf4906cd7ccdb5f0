"""The benchmark scripts run, with settings so small that their figures mean nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.train.photo_run import photo
from trainferry.train.data.pictures import encode_jpeg

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
def test_the_input_pipeline_is_measured_without_tensorflow(tmp_path: Path) -> None:
    report, done = _run(
        "input_pipeline.py", tmp_path, *("--count", 4, "--rounds", 1, "--seconds", 0)
    )
    assert "tf.data is left out" in done.stderr
    assert report["records"] == 4
    rates = report["rates"]
    assert {rate["name"].partition(",")[0] for rate in rates} == {"trainferry", "Pillow"}
    assert all(rate["per_cpu_second"] > 0 for rate in rates)
    first = {rate["job"]: rate["ratio"] for rate in reversed(rates)}
    assert set(first.values()) == {1.0}
    assert all(rate["job"] in done.stdout for rate in rates)


def test_both_readers_of_lmdb_files_are_measured(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    report, done = _run("lmdb_read.py", tmp_path, *("--count", 200, "--rounds", 2))
    assert [len(rates) for rates in report.values()] == [2, 2]
    assert all(name in done.stdout for name in report)


@pytest.mark.slow
def test_recipes_of_photographs_are_measured_whole_and_scaled(tmp_path: Path) -> None:
    recipes = ("--recipes", "resnet50_photos", "resnet50", "--noise", 3)
    small = ("--count", 2, "--batch", 2, "--rounds", 1, "--seconds", 0)
    sizes = ("--sizes", "800x600", "800x600 to 300")
    report, _ = _run(
        "photo_input.py", tmp_path, "--pictures", _photographs(tmp_path), *recipes, *small, *sizes
    )
    names = ["resnet50_photos, whole", "resnet50_photos, scaled", "resnet50, whole"]
    assert [rate["name"] for rate in report["rates"]] == 2 * names
    assert all(rate["per_cpu_second"] > 0 for rate in report["rates"])
    large, smaller = (job["megapixels"] for job in report["jobs"])
    assert large == pytest.approx(0.48, abs=0.01)
    assert smaller < large / 3


@pytest.mark.slow
def test_the_differences_of_scaled_pictures_are_told(tmp_path: Path) -> None:
    script = ROOT / "benchmarks" / "photo_differences.py"
    done = subprocess.run(
        [sys.executable, script, "--pictures", _photographs(tmp_path), "--sides", "16", "400"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    smaller, whole = done.stdout.splitlines()[-2:]
    assert smaller.startswith("| 16 | 1/")
    assert whole == "| 400 | 1/1 100% | | | | | |"


def _photographs(folder: Path) -> str:
    for number in range(2):
        (folder / f"{number}.jpg").write_bytes(encode_jpeg(photo(number, 150, 200), 90))
    return str(folder)


@pytest.mark.slow
def test_the_speed_of_crnn_is_measured_and_taken_apart(tmp_path: Path) -> None:
    small = ("--recipe", "crnn_small", "--batches", 2, "--precisions", "fp32")
    report, done = _run(
        "crnn_speed.py", tmp_path, "--device", "cpu", *small, "--steps", 1, "--rounds", 1
    )
    (case,) = report["cases"]
    assert (case["batch"], case["precision"]) == (2, "fp32")
    assert case["images_per_second"] > 0
    assert set(case["milliseconds_of_parts"]) == {"start", "forward", "loss", "backward", "update"}
    assert case["operators"]["operators"] > 100
    assert case["operators"]["kernels"] == 0
    assert "| fp32 | 2 |" in done.stdout


def _run(
    script: str, folder: Path, *options: str | int
) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
    file = folder / "figures.json"
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / script, "--json", file, *map(str, options)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(file.read_text())
    return report, done
