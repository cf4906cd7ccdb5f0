"""Migrates whole projects and checks what every migration must keep.

    python3 benchmarks/migrate_corpus.py PROJECT... [--json FILE]

For each project: no rule breaks, no file is lost, what parsed before parses after, lines that no
finding is about stay as they were, and a second migration of the result changes nothing. Time
and memory are of this process, which does one project after the other.
"""

from __future__ import annotations

import argparse
import difflib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from trainferry.migrate.migration import MigratedFile, Migration
from trainferry.migrate.options import Options
from trainferry.migrate.pipeline import migrate_project
from trainferry.migrate.rule import Outcome
from trainferry.migrate.write import write_tree


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("projects", type=Path, nargs="+", metavar="PROJECT")
    parser.add_argument("--distributed", default="auto", help="as for `trainferry migrate`")
    parser.add_argument("--adapter", default="explicit", help="as for `trainferry migrate`")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    options = Options(adapter=arguments.adapter, distributed=arguments.distributed)
    if arguments.one:
        print(json.dumps(measure(arguments.projects[0], options)))
        return 0
    rows = [_in_own_process(project, arguments) for project in arguments.projects]
    _print_table(rows)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(any(row["problems"] for row in rows))


def _in_own_process(project: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", str(project)]
    command += ["--distributed", arguments.distributed, "--adapter", arguments.adapter]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def measure(project: Path, options: Options) -> dict[str, Any]:
    """Migrate one project and check the result."""
    started, cpu = time.monotonic(), time.process_time()
    migration = migrate_project(project, options)
    seconds, cpu_seconds = time.monotonic() - started, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "project": str(project),
        "files": len(migration.files),
        "lines": sum(file.text_before.count("\n") for file in migration.files),
        "changed": len(migration.changed),
        "unreadable": len(migration.unreadable),
        "outcomes": {outcome.name: migration.counts[outcome] for outcome in Outcome},
        "rules": Counter(f"{one.rule.name} {one.outcome.name}" for one in migration.told),
        "api_calls": sum(len(api.places) for api in migration.apis),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "memory_mb": round(memory),
        "problems": find_problems(migration, options),
    }


def find_problems(migration: Migration, options: Options) -> list[str]:
    problems = [f"{one.path}: {one.rule}: {one.trace[-300:]}" for one in migration.failures]
    for file in migration.changed:
        problems += [
            f"{file.path}: line {line} changed unasked" for line in _unasked(file, migration)
        ]
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder) / migration.root.resolve().name
        write_tree(migration, new)
        again = migrate_project(new, options)
    before = {file.path for file in migration.files}
    after = {file.path for file in again.files}
    problems += [f"{path}: lost" for path in sorted(before - after)]
    problems += [f"{file.path}: changed again" for file in again.changed]
    if len(again.unreadable) > len(migration.unreadable):
        problems.append("more files cannot be read than before")
    return problems


def _unasked(file: MigratedFile, migration: Migration) -> list[int]:
    """Lines that differ though no finding is about them."""
    if file.path.suffix == ".ipynb":
        return []
    asked: set[int] = set()
    for told in migration.told:
        if told.path == file.path and told.outcome is not Outcome.BY_HAND:
            asked |= set(range(told.line - 1, told.end_line + 2))
    left = file.text_before.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(
        None, left, file.text_after.splitlines(keepends=True), autojunk=False
    )
    return [
        line + 1
        for kind, i1, i2, _, _ in matcher.get_opcodes()
        if kind in ("replace", "delete")
        for line in range(i1, i2)
        if line + 1 not in asked
    ]


def _print_table(rows: list[dict[str, Any]]) -> None:
    print(
        "| project | files | lines | changed | CHANGED | CHECK | BY_HAND | calls | s | MB "
        "| problems |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        outcomes = " | ".join(f"{row['outcomes'][outcome.name]:,}" for outcome in Outcome)
        print(
            f"| {row['project']} | {row['files']:,} | {row['lines']:,} | {row['changed']:,} | "
            f"{outcomes} | {row['api_calls']:,} | {row['seconds']:.1f} | {row['memory_mb']:,} | "
            f"{len(row['problems'])} |"
        )
    for row in rows:
        for problem in row["problems"]:
            print(f"{row['project']}: {problem}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
