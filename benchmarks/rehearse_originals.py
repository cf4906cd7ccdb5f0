"""Migrates four public TensorFlow 1.15 projects and rehearses them: which findings, which numbers?

    python benchmarks/rehearse_originals.py ORIGINALS --python EXE --python EXE --to FOLDER

ORIGINALS holds a checkout of each project at the commit that is told in the table:

    CRNN_Tensorflow  MaybeShewill-CV/CRNN_Tensorflow  0e2be73
    resnet           tensorflow/models                1212599e7
    attention_ocr    tensorflow/models                27bd23e58
    tf-hrnet         yuanyuanli85/tf-hrnet            949beb4

Each is copied without what it does not need, configured for small batches, given small data,
migrated, and rehearsed with every interpreter: on one rank beside the original, and on two ranks.
FOLDER/results.json and results.md hold the table; rows of an earlier call are kept, unless made
again. Code of the projects is never changed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from originals import PROJECTS, Project

TRAINFERRY = str(Path(sys.executable).with_name("trainferry"))
KINDS = ("loss", "gradient", "weight")


@dataclass(frozen=True)
class Row:
    """One rehearsal."""

    project: str
    commit: str
    tensorflow: str
    ranks: int
    steps: int
    verdict: str
    findings: dict[str, int]
    """By severity and check."""
    apart: dict[str, float]
    """The largest relative difference between original and migrated, of each kind."""
    seconds: float
    prepared: list[str] = field(default_factory=list)
    migrate: str = ""
    command: str = ""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("originals", type=Path)
    parser.add_argument("--python", action="append", required=True, metavar="EXE")
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--project", action="append", choices=[one.name for one in PROJECTS])
    parser.add_argument("--ranks", type=int, action="append")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--timeout", type=int, default=1800, help="seconds for each run")
    options = parser.parse_args(arguments)
    folder = options.to.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for project in PROJECTS:
        if options.project and project.name not in options.project:
            continue
        data, original = _prepare(project, options.originals.resolve(), folder)
        for ranks in options.ranks or (1, 2):
            migrated, command = _migrate(project, original, ranks, folder)
            for python in options.python:
                row = _rehearse(project, (original, migrated), data, ranks, python, options)
                _keep(replace(row, migrate=shlex.join(command)), folder)
    return 0


def _prepare(project: Project, originals: Path, folder: Path) -> tuple[Path, Path]:
    """The data, and a configured copy of the original."""
    source = originals / (project.checkout or project.name) / project.root
    data, copy = folder / "data" / project.name, folder / "originals" / project.name
    if not data.exists():
        project.make_data(data, source)
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for part in project.parts or ("*",):
        for path in sorted(source.glob(part)):
            place = copy / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            _ = shutil.copytree(path, place) if path.is_dir() else shutil.copy(path, place)
    for name, pattern, instead in project.configured:
        text = (copy / name).read_text("utf-8")
        changed, count = re.subn(pattern, instead, text)
        if count != 1:
            raise SystemExit(f"{copy / name} does not have `{pattern}` once")
        (copy / name).write_text(changed, "utf-8")
    return data, copy


def _migrate(project: Project, original: Path, ranks: int, folder: Path) -> tuple[Path, list[str]]:
    migrated = folder / "migrated" / f"{project.name}_{ranks}"
    shutil.rmtree(migrated, ignore_errors=True)
    command = [TRAINFERRY, "migrate", str(original), "--to", str(migrated)]
    if ranks > 1:
        command += ["--distributed", project.distributed]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return migrated, command


def _rehearse(
    project: Project,
    trees: tuple[Path, Path],
    data: Path,
    ranks: int,
    python: str,
    options: argparse.Namespace,
) -> Row:
    original, migrated = trees
    run = options.to.resolve() / "runs" / f"{project.name}_{ranks}_{Path(python).parents[1].name}"
    words = project.arguments.format(data=data).split()
    command = [TRAINFERRY, "rehearse", str(migrated), "--entry", project.entry]
    command += ["--original", str(original)] if ranks == 1 else ["--ranks", str(ranks)]
    command += ["--python", python, "--steps", str(options.steps), "--to", str(run)]
    command += ["--timeout", str(options.timeout)]
    command += ["--", *words, *(project.for_ranks.split() if ranks > 1 else [])]
    environment = {**os.environ, "PYTHONPATH": str(migrated)}
    print(f"\n== {project.name}, {ranks} ranks, {python}", flush=True)
    subprocess.run(command, check=False, env=environment, stderr=subprocess.STDOUT)
    told = json.loads((run / "rehearsal.json").read_text("utf-8"))
    return Row(
        project=project.name,
        commit=project.commit,
        tensorflow=told["plan"]["python"]["tensorflow"],
        ranks=ranks,
        steps=min(len(rank["losses"]) for side in told["sides"] for rank in side["ranks"]),
        verdict=told["verdict"].replace("_", " "),
        findings=dict(Counter(f"{one['severity']} {one['check']}" for one in told["findings"])),
        apart=_apart(told["compared"]),
        seconds=round(told["seconds"]),
        prepared=[f"{name}: `{new}` for `{old}`" for name, old, new in project.configured],
        command=told["plan"]["command"],
    )


def _apart(compared: Sequence[dict[str, Any]]) -> dict[str, float]:
    rows = [row for one in compared for row in one["rows"] if row["step"] > 0]
    return {
        kind: max(float(row[kind]["relative"]) for row in rows if row[kind])
        for kind in KINDS
        if any(row[kind] for row in rows)
    }


def _keep(row: Row, folder: Path) -> None:
    """Write the table anew, with this row in place of one for the same run."""
    path = folder / "results.json"
    rows = json.loads(path.read_text("utf-8")) if path.exists() else []
    same = ("project", "tensorflow", "ranks")
    new = asdict(row)
    rows = [old for old in rows if any(old[name] != new[name] for name in same)] + [new]
    names = [project.name for project in PROJECTS]
    rows.sort(key=lambda one: (names.index(one["project"]), one["ranks"], one["tensorflow"]))
    path.write_text(json.dumps(rows, indent=1), "utf-8")
    (folder / "results.md").write_text(_table(rows), "utf-8")


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        "| project | TensorFlow | ranks | steps | verdict | findings "
        "| loss | gradient | weight | seconds |",
        "|---|---|---:|---:|---|---|---:|---:|---:|---:|",
    ]
    for row in rows:
        found = ", ".join(f"{name} {count}" for name, count in sorted(row["findings"].items()))
        apart = [f"{row['apart'][kind]:.1e}" if kind in row["apart"] else "" for kind in KINDS]
        cells = [f"{row['project']} `{row['commit']}`", row["tensorflow"], row["ranks"]]
        cells += [row["steps"], row["verdict"], found, *apart, f"{row['seconds']:.0f}"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
