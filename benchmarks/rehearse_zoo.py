"""Rehearses networks that the vendor migrated by hand: do they run, and are their slips found?

    python benchmarks/rehearse_zoo.py ZOO MODELS --python EXE --to FOLDER [--case NAME]

ZOO is a checkout of Ascend/ModelZoo-TensorFlow at a2c3332a6, MODELS one of tensorflow/models at
1212599e7: ResNet50TF takes its flags and hooks from there. Each network is copied, configured for
small batches, given small data, and rehearsed. FOLDER/results.json and results.md hold the table;
rows of an earlier call are kept, unless made again. The exit status is 1 if a known slip was not
found, or one did not train that can.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from zoo_cases import CASES, Case

TRAINFERRY = str(Path(sys.executable).with_name("trainferry"))
VERDICTS = {"runs": "runs", "refused": "would be refused", "did_not_run": "did not run"}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("zoo", type=Path)
    parser.add_argument("models", type=Path)
    parser.add_argument("--python", action="append", required=True, metavar="EXE")
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--case", action="append", choices=[one.name for one in CASES])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--timeout", type=int, default=1500, help="seconds for each run")
    options = parser.parse_args(arguments)
    folder = options.to.resolve()
    found_all = True
    for case in CASES:
        if not options.case or case.name in options.case:
            data, project = _prepare(case, options.zoo, options.models, folder)
            for python in options.python:
                row = _rehearse(case, project, data, python, options)
                found_all &= not row["slips_missed"] and row["is_as_known"]
                _keep(row, folder)
    return 0 if found_all else 1


def _prepare(case: Case, zoo: Path, models: Path, folder: Path) -> tuple[Path, Path]:
    """The data, and a configured copy of the network."""
    name = case.name.replace(" ", "_").replace(",", "")
    data, project = folder / "data" / name, folder / "projects" / name
    shutil.rmtree(project, ignore_errors=True)
    shutil.copytree(zoo / case.folder, project / case.place)
    for part in case.more:
        source, target = models / part, project / part
        _ = shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    for file, pattern, instead in case.configured:
        text = (project / file).read_text("utf-8")
        changed, count = re.subn(pattern, instead, text)
        if count != 1:
            raise SystemExit(f"{project / file} does not have `{pattern}` once")
        (project / file).write_text(changed, "utf-8")
    if not data.exists():
        case.make_data(data, project)
    return data, project


def _rehearse(
    case: Case, project: Path, data: Path, python: str, options: argparse.Namespace
) -> dict[str, Any]:
    run = options.to.resolve() / "runs" / f"{project.name}_{Path(python).parents[1].name}"
    command = [TRAINFERRY, "rehearse", str(project), "--entry", case.entry, "--python", python]
    command += ["--ranks", str(case.ranks), "--steps", str(options.steps), "--to", str(run)]
    command += ["--timeout", str(options.timeout), "--", *case.arguments.format(data=data).split()]
    print(f"\n== {case.name}, {python}", flush=True)
    environment = {**os.environ, **case.environment, "PYTHONPATH": str(project)}
    subprocess.run(command, check=False, env=environment, stderr=subprocess.STDOUT)
    told = json.loads((run / "rehearsal.json").read_text("utf-8"))
    places = {(one["check"], place) for one in told["findings"] for place in one["places"]}
    slips = {
        check: sorted(place for name, place in places if name == check and place.startswith(file))
        for check, file in case.slips.items()
    }
    ranks = [rank for side in told["sides"] for rank in side["ranks"]]
    steps = min(len(rank["losses"]) for rank in ranks)
    fails_as_known = case.fails_with in (ranks[0]["error"] or "")
    return {
        "case": case.name,
        "tensorflow": told["plan"]["python"]["tensorflow"],
        "ranks": case.ranks,
        "steps": steps,
        "is_as_known": fails_as_known if case.fails_with else steps > 0,
        "verdict": VERDICTS[told["verdict"]],
        "findings": sorted({f"{one['severity']} {one['check']}" for one in told["findings"]}),
        "slips": {check: found for check, found in slips.items() if found},
        "slips_missed": [check for check, found in slips.items() if not found],
        "seconds": round(told["seconds"]),
        "command": told["plan"]["command"],
    }


def _keep(row: dict[str, Any], folder: Path) -> None:
    """Write the table anew, with this row in place of one for the same run."""
    path = folder / "results.json"
    rows = json.loads(path.read_text("utf-8")) if path.exists() else []
    key = (row["case"], row["tensorflow"])
    rows = [old for old in rows if (old["case"], old["tensorflow"]) != key] + [row]
    names = [case.name for case in CASES]
    rows.sort(key=lambda one: (names.index(one["case"]), one["tensorflow"]))
    path.write_text(json.dumps(rows, indent=1), "utf-8")
    lines = [
        "| network | TensorFlow | ranks | steps | verdict | findings | slips found | s |",
        "|---|---|---:|---:|---|---|---|---:|",
    ]
    for one in rows:
        slips = [f"{check} {' '.join(found)}" for check, found in one["slips"].items()]
        slips += [f"**not found: {check}**" for check in one["slips_missed"]]
        cells = [one["case"], one["tensorflow"], one["ranks"], one["steps"], one["verdict"]]
        cells += [", ".join(one["findings"]), "; ".join(slips), one["seconds"]]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    (folder / "results.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
