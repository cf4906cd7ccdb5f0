"""The benchmark on signs: what it makes of time, of a journal and of wrong readings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks import street_signs
from benchmarks.street_signs import Reading, Trial, read_trial, render

from trainferry.train.data.signs.charset import read_charset
from trainferry.train.data.signs.records import SignRecords, find_signs

ROOT = Path(__file__).resolve().parents[1]


def test_a_trial_tells_steps_start_and_evaluation_apart() -> None:
    logged: list[dict[str, Any]] = [
        {"event": "logged", "step": 25 * number, "time": 100 + 2.0 * number}
        for number in range(1, 9)
    ]
    journal = [{"event": "started", "time": 90}, *logged, {"event": "saved", "time": 120.0}]
    trial = read_trial(journal, seconds=40.0)
    assert trial == Trial(step=0.08, start=20.0, evaluation=4.0)
    steps = trial.steps_in(560.0)
    assert steps % 100 == 0
    assert trial.start + 5 * trial.evaluation + steps * trial.step < 560


def test_a_trial_that_leaves_no_time_still_has_steps() -> None:
    assert Trial(step=1.0, start=90.0, evaluation=5.0).steps_in(60.0) == 100


@pytest.mark.parametrize(
    ("truth", "read", "kind"),
    [
        ("Rue de la Gare", "Rue de la Gare", "right"),
        ("Rue de la Gare", "Rue de La Gare", "case"),
        ("Rue de la Libération", "Rue de la Liberation", "accents"),
        ("Rue Saint-Jean", "Rue Saint Jean", "spaces and signs"),
        ("Rue de la Gare", "Rue de la Gara", "one character"),
        ("Rue de la Gare", "Rue de la Gir", "two characters"),
        ("Rue de la Gare", "Rue du Moulin", "more"),
    ],
)
def test_wrong_readings_have_kinds(truth: str, read: str, kind: str) -> None:
    assert Reading(0, truth, read, 1.0).kind() == kind


def test_what_is_rendered_when_the_time_is_up_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(street_signs, "tell", said.append)
    render(tmp_path, "train", 40, 1, shard=2, until=0.0)
    paths = find_signs(tmp_path, "train")
    assert said == ["the time for signs of train is up", f"{len(paths)} files of train"]
    assert len(SignRecords(paths, read_charset(tmp_path))) == 2 * len(paths) < 40
    render(tmp_path, "train", 40, 1, shard=2)
    assert find_signs(tmp_path, "train") == paths


@pytest.mark.slow
def test_one_call_writes_what_a_page_needs(tmp_path: Path) -> None:
    real = tmp_path / "real"
    render(real, "val", 2, 1)
    small = ("loop.batch=2", "loop.log_every=1", "precision.name=fp32", "network.hidden=8")
    sets = [*small, "network.endpoint=MaxPool_5a_3x3", "data.workers=0"]
    options = ("--count", 6, "--held-out", 3, "--processes", 1, "--steps", 2, "--device", "cpu")
    folders = ("--to", tmp_path / "signs", "--real", real, "--out", tmp_path / "out")
    words = [*folders, *options, *(word for each in sets for word in ("--set", each))]
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "street_signs.py", *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / "out" / "figures.json").read_text(encoding="utf-8"))
    assert (figures["steps"], figures["signs"]) == (2, 6)
    assert (figures["rendered"]["samples"], figures["real"]["samples"]) == (3, 2)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    wanted = {"figures.json", "journal.jsonl", "recipe.toml", "weights.safetensors", "wrong.tsv"}
    assert names - {"curve.png"} == {*wanted, "attention_real.png", "attention_rendered.png"}
