"""Runs checks inside the TensorFlow interpreters of this machine, where there are any.

A file under `inside/` holds functions whose names are sentences; each one is a test. They run
in one process per interpreter, because TensorFlow takes seconds to import.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from trainferry.rehearse.hub import Hub

HERE = Path(__file__).parent
REHEARSE = Path(__file__).resolve().parents[3] / "src/trainferry/rehearse"
STAND_IN = REHEARSE / "stand_in"
ENTRY = REHEARSE / "probe" / "entry"
INTERPRETERS = {"1.15": "TRAINFERRY_TF115", "2.15": "TRAINFERRY_TF215"}


def python_for(version: str) -> str:
    """The interpreter with this TensorFlow; skips the test where there is none."""
    name = INTERPRETERS[version]
    python = os.environ.get(name)
    if not python:
        pytest.skip(f"set {name} to a Python that has TensorFlow {version}")
    return python


def environment(version: str, **extra: str) -> dict[str, str]:
    """A small environment; TensorFlow 2 gets the import layer too."""
    path = [str(STAND_IN)] + ([str(ENTRY)] if version != "1.15" else [])
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "JOB_ID": "rehearsal",
        **extra,
    }


def sentences(file: str) -> list[str]:
    """The checks of a file, read without importing it."""
    tree = ast.parse((HERE / "inside" / file).read_text("utf-8"))
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]


@functools.cache
def outcomes(file: str, version: str) -> dict[str, str]:
    """What each check of a file came to: empty where it holds, else the traceback."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [python_for(version), str(HERE / "inside" / "run_checks.py"), file],
            env=environment(version),
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    if done.returncode:
        raise AssertionError(done.stderr[-4000:])
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def run_ranks(
    script: Path, version: str, ranks: int, folder: Path, *arguments: str, **extra: str
) -> tuple[list[subprocess.CompletedProcess[str]], Hub]:
    """Run a script once per rank, joined by a hub; gives what each rank printed."""
    python = python_for(version) if version else sys.executable
    stall = float(extra.pop("stall_seconds", "60"))
    hub = Hub(folder / "hub", ranks, stall_seconds=stall, grace_seconds=1)
    with hub:
        processes = [
            subprocess.Popen(
                [python, str(script), *arguments],
                env=environment(
                    version or "1.15",
                    TRAINFERRY_HUB=str(hub.path),
                    RANK_ID=str(rank),
                    RANK_SIZE=str(ranks),
                    **extra,
                ),
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(ranks)
        ]
        finished = []
        for process in processes:
            out, error = process.communicate(timeout=600)
            finished.append(
                subprocess.CompletedProcess(process.args, process.returncode, out, error)
            )
    return finished, hub
