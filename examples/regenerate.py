"""Migrates every example again: `before/` becomes `after/` and `report.md`."""

from __future__ import annotations

import shutil
from pathlib import Path

from trainferry.migrate.migration import Migration
from trainferry.migrate.options import Options
from trainferry.migrate.pipeline import migrate_project
from trainferry.migrate.report.markdown import markdown_report
from trainferry.migrate.write import write_tree

EXAMPLES = Path(__file__).parent


def main() -> None:
    for before in sorted(EXAMPLES.glob("*/before")):
        migration = migrate_project(before, Options())
        shutil.rmtree(before.with_name("after"), ignore_errors=True)
        write_tree(migration, before.with_name("after"))
        before.with_name("report.md").write_text(markdown_report(migration), encoding="utf-8")
        print(f"{before.parent.name}: {summary(migration)}")


def summary(migration: Migration) -> str:
    counts = ", ".join(
        f"{number} {outcome.name.lower().replace('_', ' ')}"
        for outcome, number in sorted(migration.counts.items(), key=lambda one: one[0].value)
    )
    return f"{counts}; {migration.verdict.value}"


if __name__ == "__main__":
    main()
