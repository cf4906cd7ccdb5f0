"""The whole path of a migration: read, resolve, ask the rules, edit, and tell.

Nothing is written here: `write.py` does that with what this returns.
"""

from __future__ import annotations

import gc
import sys
from dataclasses import replace
from pathlib import Path

from trainferry.migrate import rounds
from trainferry.migrate.apis import find_apis
from trainferry.migrate.dispatch import chosen_rules
from trainferry.migrate.entries import find_entries
from trainferry.migrate.lines import line_end, line_number, line_start
from trainferry.migrate.migration import MigratedFile, Migration, Told
from trainferry.migrate.options import Options
from trainferry.migrate.read import Project, Source, read_project
from trainferry.migrate.rule import Concern, Outcome
from trainferry.migrate.suppress import check_rule_names, find_misspelt, read_ignored

_ATTENTION = {Outcome.BY_HAND: 0, Outcome.CHECK: 1, Outcome.CHANGED: 2}
# An `elif` stands inside the `if` before it: a chain of them is as deep as it is long.
_DEEPEST = 5000
_URGENCY = {concern: place for place, concern in enumerate(Concern)}


def migrate_project(path: Path, options: Options) -> Migration:
    """Migrate a file, a folder or a Git work tree; the result is all in memory."""
    check_rule_names(options.only | options.skip | options.also, "the command line")
    # Nearly all that is made stays to the end: looking for garbage in it is a third of the time.
    was_enabled = gc.isenabled()
    gc.disable()
    deepest = sys.getrecursionlimit()
    sys.setrecursionlimit(max(deepest, _DEEPEST))
    try:
        migrated = _migrate(read_project(path), options)
        return replace(migrated, is_one_file=not path.is_dir())
    finally:
        sys.setrecursionlimit(deepest)
        if was_enabled:
            gc.freeze()
            gc.unfreeze()  # now it all counts as old, and is not looked at soon
            gc.enable()


def _migrate(project: Project, options: Options) -> Migration:
    ignored = read_ignored(project.root)
    result = rounds.apply_rules(
        project.sources,
        chosen_rules(options),
        options,
        project.root.resolve().name,
        ignored.is_unwanted,
    )
    sources = {source.path: source for source in project.sources}
    told = [_place(one, sources[one.path]) for one in result.told]
    told.sort(
        key=lambda one: (
            _URGENCY[one.concern],
            _ATTENTION[one.outcome],
            one.path,
            one.line,
            one.column,
        )
    )
    return Migration(
        root=project.root,
        options=options,
        files=tuple(_file(source, result.after.get(source.path)) for source in project.sources),
        told=tuple(told),
        apis=find_apis(result.files.files),
        unreadable=project.unreadable,
        skipped=project.skipped,
        failures=tuple(result.failures),
        suppressed=len(ignored.seen),
        misspelt=tuple(find_misspelt(project.sources)),
        entries=find_entries(result.files.files),
    )


def _file(source: Source, after: Source | None) -> MigratedFile:
    now = after or source
    return MigratedFile(source.path, source.file, now.file, _text(source), _text(now))


def _text(source: Source) -> str:
    return source.data.decode(source.encoding)


def _place(told: rounds.Told, source: Source) -> Told:
    data = source.data
    start = line_start(data, told.start)
    first_line = data[start : line_end(data, told.start)]
    cell = None
    if source.notebook is not None:
        line = source.notebook.line(told.start)
        end_line = source.notebook.line(max(told.start, told.end - 1))
        cell = source.notebook.cell(told.start).number
    else:
        line = line_number(data, told.start)
        end_line = line_number(data, max(told.start, told.end - 1))
    return Told(
        rule=told.rule,
        outcome=told.outcome,
        concern=told.finding.concern or told.rule.concern,
        message=told.message,
        path=told.path,
        line=line,
        column=len(data[start : told.start].decode(source.encoding, "replace")) + 1,
        end_line=end_line,
        cell=cell,
        text=first_line.decode(source.encoding, "replace").strip(),
    )
