"""Applies rules to sources, round by round, until nothing more changes.

Edits of two findings may meet at one place. Then one is made first, the file is read again, and
the other is found again in the new text. The last round finds nothing to change: so a second
migration of the result changes nothing either, and that is checked here on every file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple, TypeAlias

from trainferry.migrate.dispatch import Dispatch, Failure, Found
from trainferry.migrate.eager import EAGER_RULE, is_eager
from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.making import make_edits, with_free_names, without_meetings
from trainferry.migrate.names import resolve_project
from trainferry.migrate.options import Options
from trainferry.migrate.read import Source
from trainferry.migrate.rule import IMPORT_RULE, Finding, Outcome, Rule, Spot
from trainferry.migrate.shift import Shift

_MOST_ROUNDS = 20

IsUnwanted: TypeAlias = Callable[[Found, Source], bool]


@dataclass(frozen=True)
class Told:
    """A finding as it is told: where in the file as the user has it, from byte to byte."""

    rule: Rule
    outcome: Outcome
    message: str
    path: PurePosixPath
    start: int
    end: int
    finding: Finding


@dataclass
class Result:
    """What the rules made of the sources; `after` has the files that changed."""

    before: tuple[Source, ...]
    after: dict[PurePosixPath, Source]
    told: list[Told]
    failures: list[Failure]
    files: ProjectFiles  # as the rules first saw them


def apply_rules(
    sources: Sequence[Source],
    rules: Sequence[Rule],
    options: Options,
    folder: str = "",
    is_unwanted: IsUnwanted | None = None,
) -> Result:
    """Migrate sources; `is_unwanted` says which findings to leave out, edits and all."""
    return _Rounds(sources, rules, options, folder, is_unwanted).run()


class _Rounds:
    def __init__(
        self,
        sources: Sequence[Source],
        rules: Sequence[Rule],
        options: Options,
        folder: str,
        is_unwanted: IsUnwanted | None,
    ) -> None:
        self.before = tuple(sources)
        self.options = options
        self.folder = folder
        self.is_unwanted = is_unwanted or (lambda _found, _source: False)
        self.dispatch = Dispatch(rules)
        self.now = {source.path: source for source in sources}
        self.maps: dict[PurePosixPath, list[Shift]] = {}
        self.told: dict[tuple[PurePosixPath, str, int, int, str], Told] = {}
        self.failures: list[Failure] = []
        self.left_alone: set[PurePosixPath] = set()
        self.changed_last: list[PurePosixPath] = []
        self.last_rules: dict[PurePosixPath, str] = {}
        self.said: set[tuple[str, str]] = set()
        self.told_at: dict[tuple[PurePosixPath, str, int, int, str], _ToldAt] = {}
        # What the rules say about the files as they are now.
        self.still_told: set[tuple[PurePosixPath, str, int, str]] = set()

    def run(self) -> Result:
        project = first = self.resolved(None)
        wanted = everything = frozenset(self.now)
        asked: frozenset[PurePosixPath] = frozenset()  # since a file last changed
        for _ in range(_MOST_ROUNDS):
            is_changed = self.one_round(project, wanted - asked, is_first=not asked)
            if not is_changed and wanted == everything:
                self.forget_what_is_gone()
                break
            before = project
            project = self.resolved(before)
            asked = wanted if project is before else frozenset()
            if project is not before:
                self.still_told.clear()
            # The last round is for all: one file may matter to another.
            wanted = frozenset(self.changed_last) if is_changed else everything
        else:
            for path in self.changed_last:
                self.give_up(path, "the rules do not come to an end", self.last_rules[path])
        original = {source.path: source for source in self.before}
        after = {path: now for path, now in self.now.items() if now is not original[path]}
        return Result(self.before, after, list(self.told.values()), self.failures, first)

    def resolved(self, before: ProjectFiles | None) -> ProjectFiles:
        """The files as they are now, with their names; what was before where none changed."""
        sources = tuple(self.now.values())
        if before is not None and sources == before.sources:
            return before
        known = None if before is None else before.names
        names = resolve_project(sources, self.folder, known)
        return ProjectFiles(sources, names, self.options, before)

    def one_round(
        self, project: ProjectFiles, wanted: frozenset[PurePosixPath], *, is_first: bool
    ) -> bool:
        """Ask the rules about some files, and make the edits that do not meet; whether any was.

        Rules for the whole project are asked where it is the first round since a change.
        """
        by_path: dict[PurePosixPath, list[Found]] = {}
        results = [*self.said_once(self.dispatch.on_project(project))] if is_first else []
        for file in project.files:
            if file.source.path in wanted:
                results += self.dispatch.on_file(file)
        for result in results:
            if isinstance(result, Failure):
                self.fail(result)
            else:
                by_path.setdefault(result.finding.at.source.path, []).append(result)
        self.changed_last = [
            file.source.path
            for file in project.files
            if (found := by_path.get(file.source.path)) and self.change(file, found)
        ]
        return bool(self.changed_last)

    def said_once(self, results: Iterable[Found | Failure]) -> Iterator[Found | Failure]:
        """Without what was told of the project in an earlier round, then at another place."""
        earlier = frozenset(self.said)
        for one in results:
            if isinstance(one, Found) and not one.finding.edits:
                about = (one.rule.name, one.finding.message)
                self.said.add(about)
                if about in earlier:
                    continue
            yield one

    def change(self, file: File, found: list[Found]) -> bool:
        path = file.source.path
        if not self.options.lint and is_eager(file):  # half a migration would help nobody
            found = [one for one in found if one.rule.name == EAGER_RULE]
        wanted = [one for one in found if not self.is_unwanted(one, file.source)]
        placed = [with_free_names(one, file) for one in wanted]
        chosen = [] if path in self.left_alone else list(without_meetings(placed))
        for one in placed:
            if not one.finding.edits:
                self.tell(file, one)
        if not chosen:
            return False
        chosen, made = make_edits(file, chosen)
        self.last_rules[path] = ", ".join(sorted({one.rule.name for one in chosen}))
        if isinstance(made, str):
            self.give_up(path, made, self.last_rules[path])
            return False
        for one in chosen:
            self.tell(file, one)
        if made.imported is not None:
            self.tell_import(file, made.imported, chosen)
        self.maps.setdefault(path, []).append(Shift(file.source, made.edits))
        self.now[path] = made.source
        return True

    def tell(self, file: File, found: Found) -> None:
        start, end = file.source.span(_place(file, found.finding))
        self.add(found, file.source.path, start, end)

    def tell_import(self, file: File, edit: Edit, chosen: list[Found]) -> None:
        why = sorted({one.rule.name for one in chosen if one.finding.imports})
        lines = edit.text.replace("; ", "\n").split("\n")
        names = ", ".join(f"`{line}`" for line in lines if line)
        finding = Finding(
            Spot(file.source, file.source.tree),
            Outcome.CHANGED,
            f"{names} for {', '.join(why)}",
            (edit,),
        )
        self.add(Found(IMPORT_RULE, finding), file.source.path, edit.start, edit.start)

    def add(self, found: Found, path: PurePosixPath, start: int, end: int) -> None:
        here = _ToldAt(len(self.maps.get(path, [])), start, end)
        for shift in reversed(self.maps.get(path, [])):
            start, end = shift.back(start), shift.back_end(end)
        finding = found.finding
        # Calls of a chain, `dataset.map(f).map(g)`, all start at one place.
        key = (path, found.rule.name, start, end, finding.message)
        self.still_told.add((path, found.rule.name, start, finding.message))
        if key not in self.told:
            self.told_at[key] = here
            self.told[key] = Told(
                found.rule, finding.outcome, finding.message, path, start, end, finding
            )

    def forget_what_is_gone(self) -> None:
        """Work by hand on code that another rule took away is no work any more.

        Code that only looks different now may need it still, also where the rule is silent; and
        what is told of the whole project stands at any place.
        """
        self.told = {
            key: told
            for key, told in self.told.items()
            if told.finding.edits
            or (told.path, told.rule.name, told.start, told.message) in self.still_told
            or (told.rule.name, told.message) in self.said
            or not self.is_gone(told.path, self.told_at[key])
        }

    def is_gone(self, path: PurePosixPath, at: _ToldAt) -> bool:
        """Whether an edit took away all the code of a place; a file left alone has none."""
        start, end = at.start, at.end
        for shift in self.maps.get(path, [])[at.edits_before :]:
            if shift.removes(start, end):
                return True
            start, end = shift.ahead(start), shift.ahead_end(end)
        return False

    def fail(self, failure: Failure) -> None:
        known = {(one.path, one.rule) for one in self.failures}
        if (failure.path, failure.rule) not in known:  # it breaks again in each round
            self.failures.append(failure)
        if failure.path != PurePosixPath("."):
            self.restore(failure.path)

    def give_up(self, path: PurePosixPath, reason: str, rules: str = "") -> None:
        self.failures.append(Failure(path, rules, reason))
        self.restore(path)

    def restore(self, path: PurePosixPath) -> None:
        """Our bug must not cost the user a file: it stays as it was."""
        self.left_alone.add(path)
        self.now[path] = next(source for source in self.before if source.path == path)
        self.maps.pop(path, None)
        self.told = {
            key: told
            for key, told in self.told.items()
            if told.path != path or not told.finding.edits
        }


def _place(file: File, finding: Finding) -> ast.AST:
    """The code that a finding is told of: all around its own that an edit takes away, too."""
    place = finding.at.node
    for above in file.parents(place):
        if isinstance(above, ast.expr | ast.stmt):
            start, end = file.source.span(above)
            if not any(edit.start <= start and end <= edit.end for edit in finding.edits):
                break
            place = above
    return place


class _ToldAt(NamedTuple):
    """Where something was told: in the file after so many rounds of edits."""

    edits_before: int
    start: int
    end: int
