"""Writes what the scripts of examples/faulty do on TensorFlow, for tests without TensorFlow.

TRAINFERRY_TF115=... python -m tests.rehearse.checks.record_examples [NAME ...]

Of each run only the facts, the graphs of train steps and the last lines of the output are kept.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.rehearse.checks.faulty_examples import CLEAN, FAULTY, Example, run_example

RECORDED = Path(__file__).with_name("recorded.zip")
_LINES = 12
_MOMENT = (2026, 1, 1, 0, 0, 0)  # so that the same facts make the same file


def main(names: list[str]) -> int:
    python = os.environ["TRAINFERRY_TF115"]
    kept: dict[str, str] = {}
    if RECORDED.exists():
        with zipfile.ZipFile(RECORDED) as archive:
            kept = {name: archive.read(name).decode() for name in archive.namelist()}
    for example in [*FAULTY, *CLEAN]:
        if names and example.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            run_example(example, python, Path(folder) / "run")
            kept = {name: text for name, text in kept.items() if _owner(name) != example.name}
            kept.update(_files(example, Path(folder) / "run"))
        sys.stderr.write(f"{example.name}\n")
    known = {example.name for example in [*FAULTY, *CLEAN]}
    with zipfile.ZipFile(RECORDED, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(name for name in kept if _owner(name) in known):
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, kept[name])
    return 0


def _files(example: Example, run: Path) -> dict[str, str]:
    script = example.path.name
    files = {f"{example.name}/hub.json": (run / "hub.json").read_text("utf-8")}
    for home in sorted(run.glob("rank_*")):
        target = f"{example.name}/{home.name}"
        ending = json.loads((home / "ending.json").read_text("utf-8"))
        shown = ending["last_lines"][-_LINES:] if ending["code"] else ()
        ending["last_lines"] = [
            re.sub(rf'File ".*?{script}"', f'File "{script}"', x) for x in shown
        ]
        files[f"{target}/ending.json"] = json.dumps(ending)
        needed = set()
        for path in sorted(home.glob("facts*.jsonl")):
            facts, graphs = _facts(path, example)
            needed |= graphs
            files[f"{target}/{path.name}"] = facts
        for name in sorted(needed):
            files[f"{target}/{name}"] = (home / name).read_text("utf-8")
        if (home / "notes.jsonl").exists():
            files[f"{target}/notes.jsonl"] = (home / "notes.jsonl").read_text("utf-8")
    return files


def _facts(path: Path, example: Example) -> tuple[str, set[str]]:
    """The facts without what only this machine has, and the graphs that they still name."""
    rows, graphs = [], set()
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["kind"] == "start":
            row.update(folder="", argv=[example.path.name], process=0)
        if row["kind"] == "step":
            row["seconds"] = 0.0
        if row["kind"] == "run" and not (row["train"] or "iterator" in example.check):
            row["graph"] = None
        if row["kind"] == "run" and row["graph"]:
            graphs.add(row["graph"])
        rows.append(json.dumps(row))
    return "\n".join(rows) + "\n", graphs


def _owner(name: str) -> str:
    return name.partition("/")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
