"""trainferry migrate: rewrite a TensorFlow 1.15 project for Ascend NPUs."""

from __future__ import annotations

import argparse
import gc
import json
import os
import shlex
import shutil
import sys
import time
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from trainferry.counted import counted
from trainferry.errors import UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.migrate.migration import Migration
    from trainferry.migrate.options import Options


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "migrate",
        help="rewrite a TensorFlow 1.15 project for Ascend NPUs",
        description="Rewrite a TensorFlow 1.15 project for Ascend NPUs, and explain every change. "
        "Without --to or --in-place nothing is written: the summary says what would be done.",
    )
    parser.add_argument("project", metavar="PROJECT", type=Path, help="a folder, file or notebook")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--to", type=Path, metavar="FOLDER", help="write the migrated project there")
    how.add_argument(
        "--in-place", action="store_true", help="change the project; a patch leads back"
    )
    how.add_argument("--diff", action="store_true", help="print the changes as a diff")
    how.add_argument("--check", action="store_true", help="exit 1 if anything would change")
    how.add_argument("--lint", action="store_true", help="check code that is on the NPU already")
    _add_rules(parser)
    _add_target(parser)
    _add_reports(parser)
    parser.set_defaults(run=run)


def _add_rules(parser: argparse.ArgumentParser) -> None:
    rules = parser.add_argument_group("rules", "`trainferry rules` lists them")
    rules.add_argument("--only", metavar="RULE,…", help="no other rules")
    rules.add_argument("--skip", metavar="RULE,…", help="all but these")
    rules.add_argument("--also", metavar="RULE,…", help="rules you must ask for")


def _add_target(parser: argparse.ArgumentParser) -> None:
    target = parser.add_argument_group("target")
    target.add_argument(
        "--adapter",
        choices=["explicit", "patched"],
        default="explicit",
        help="patched: the adapter puts the NPU into every session when it is imported; "
        "explicit: sessions are configured in the code, which works with every adapter",
    )
    target.add_argument(
        "--chip",
        choices=["910", "910b", "910c", "950", "310p"],
        default="910b",
        help="where the answer differs: 910 is the first generation",
    )
    target.add_argument(
        "--distributed",
        choices=["auto", "none", "horovod", "strategy", "hccl"],
        default="auto",
        help="auto: what the project uses; hccl: make a project for one device data-parallel",
    )


def _add_reports(parser: argparse.ArgumentParser) -> None:
    reports = parser.add_argument_group("reports")
    reports.add_argument(
        "--report", type=Path, metavar="FOLDER", help="HTML, Markdown, JSON and SARIF"
    )
    reports.add_argument("--baseline", type=Path, metavar="FILE", help="count only new findings")
    reports.add_argument(
        "--write-baseline", type=Path, metavar="FILE", help="write down the findings there are"
    )
    reports.add_argument("--json", action="store_true", help="print the report as JSON")


def run(arguments: argparse.Namespace) -> int:
    from trainferry.migrate.baseline import without_baseline, write_baseline
    from trainferry.migrate.pipeline import migrate_project

    started = time.monotonic()
    _refuse_early(arguments)
    migration = migrate_project(arguments.project, _options(arguments))
    gc.freeze()  # the program ends soon: nobody needs the memory back
    if arguments.write_baseline:
        write_baseline(migration, arguments.write_baseline)
        _say(f"{counted(len(migration.told), 'finding')} written to {arguments.write_baseline}")
    if arguments.baseline:
        migration = without_baseline(migration, arguments.baseline)
    _show(migration, arguments)
    for sentence in migration.misspelt:
        _say(f"note: {sentence}")
    if arguments.report:
        _write_reports(migration, arguments.report)
    _write(migration, arguments)
    _say(f"{counted(len(migration.files), 'file')} in {time.monotonic() - started:.1f} s")
    if arguments.to or arguments.in_place:
        _say_next(migration, arguments)
    return _exit_code(migration, arguments)


def _refuse_early(arguments: argparse.Namespace) -> None:
    """Tell before the work, which takes a while, what would stop its end."""
    from trainferry.migrate.write import check_target

    if arguments.to:
        check_target(arguments.to, arguments.project if arguments.project.is_dir() else None)


def _options(arguments: argparse.Namespace) -> Options:
    from trainferry.migrate.options import Options

    only, skip, also = (_names(arguments, option) for option in ("only", "skip", "also"))
    if only and only <= skip:
        raise UsageError("--only and --skip leave no rule", hint="leave one of them out")
    return Options(
        adapter=arguments.adapter,
        chip=arguments.chip,
        distributed=arguments.distributed,
        only=only,
        skip=skip,
        also=also,
        lint=arguments.lint,
    )


def _names(arguments: argparse.Namespace, option: str) -> frozenset[str]:
    text = getattr(arguments, option)
    if text is None:
        return frozenset()
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise UsageError(
            f"--{option} names no rule",
            hint=f"`trainferry rules` lists them; or leave out --{option}",
        )
    return names


def _show(migration: Migration, arguments: argparse.Namespace) -> None:
    from trainferry.migrate.report.as_json import json_report
    from trainferry.migrate.report.text import text_report

    if arguments.json:
        print(json.dumps(json_report(migration), indent=1))
        return
    if arguments.diff:
        for file in migration.changed:
            print(file.diff(), end="")
    stream = sys.stderr if arguments.diff else sys.stdout
    colour = stream.isatty() and "NO_COLOR" not in os.environ
    width = shutil.get_terminal_size().columns if stream.isatty() else 100
    print(text_report(migration, colour=colour, width=width), end="", file=stream)


def _write(migration: Migration, arguments: argparse.Namespace) -> None:
    from trainferry.migrate.write import write_in_place, write_tree

    if arguments.to:
        tree = write_tree(migration, arguments.to, _launch_kit(migration))
        _say(f"{counted(tree.files, 'file')} written to {arguments.to}, {tree.changed:,} migrated")
        for path, reason in tree.left_out:
            _say(f"  not copied: {path} ({reason})")
    elif arguments.in_place:
        undo = write_in_place(migration)
        if undo is not None:
            changed = counted(len(migration.changed), "file")
            git = "git"
            if undo.parent != Path.cwd():
                git += f" -C {shlex.quote(str(migration.root))}"
            _say(f"{changed} changed; `{git} apply {undo.name}` leads back")
    elif migration.changed and not (arguments.diff or arguments.check or arguments.lint):
        _say("nothing was written: give --to FOLDER, or --in-place")


def _say_next(migration: Migration, arguments: argparse.Namespace) -> None:
    from trainferry.migrate.entries import programs
    from trainferry.migrate.migration import Verdict

    if migration.verdict is Verdict.NOT_TENSORFLOW:
        return
    found = programs(migration.entries)
    entry = shlex.quote(str(found[0].path)) if found else "FILE"
    command = f"trainferry rehearse {shlex.quote(str(arguments.to or migration.root))}"
    first = "what is left by hand, then " if migration.verdict is Verdict.MISSING else ""
    others = f" (of {len(found)} programs)" if len(found) > 1 else ""
    _say(f"next: {first}{command} --entry {entry}{others}")


def _launch_kit(migration: Migration) -> list[tuple[PurePosixPath, bytes]]:
    from trainferry.migrate.launch_kit import launch_kit

    return launch_kit(migration)


def _write_reports(migration: Migration, folder: Path) -> None:
    from trainferry.migrate.report.as_json import json_report
    from trainferry.migrate.report.html import html_report
    from trainferry.migrate.report.markdown import markdown_report
    from trainferry.migrate.report.sarif import sarif_report

    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "report.html": html_report(migration),
        "report.md": markdown_report(migration),
        "report.json": json.dumps(json_report(migration), indent=1),
        "report.sarif": json.dumps(sarif_report(migration), indent=1),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")
    _say(f"the report is {folder / 'report.html'}")


def _exit_code(migration: Migration, arguments: argparse.Namespace) -> int:
    if migration.failures:
        return 1
    if arguments.check:
        return int(bool(migration.changed))
    return int(bool(migration.told)) if arguments.lint else 0


def _say(text: str) -> None:
    print(text, file=sys.stderr)
