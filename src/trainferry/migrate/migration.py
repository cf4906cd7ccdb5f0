"""What a migration came to: the one model that every report is made from."""

from __future__ import annotations

import difflib
import enum
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from trainferry.migrate.apis import ApiUse
from trainferry.migrate.dispatch import Failure
from trainferry.migrate.entries import Entry
from trainferry.migrate.options import Options
from trainferry.migrate.read import Unreadable
from trainferry.migrate.rule import Concern, Outcome, Rule

_LINE = re.compile(r"[^\n]*\n?")


@dataclass(frozen=True)
class Told:
    """A finding with its place in the file as the user has it; lines and columns from 1."""

    rule: Rule
    outcome: Outcome
    concern: Concern
    message: str
    path: PurePosixPath
    line: int
    column: int
    end_line: int
    cell: int | None
    text: str  # the first line of the code it is about


@dataclass(frozen=True)
class MigratedFile:
    """A file before and after, as bytes, and its Python as text (of a notebook: the cells)."""

    path: PurePosixPath
    before: bytes
    after: bytes
    text_before: str
    text_after: str

    @property
    def is_changed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """Unified diff of the Python text."""
        hunks = "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in _unified(_lines(self.text_before), _lines(self.text_after))
        )
        return hunks and f"--- a/{self.path}\n+++ b/{self.path}\n{hunks}"


def _unified(before: list[str], after: list[str]) -> Iterator[str]:
    """As `difflib.unified_diff`, but lines that come often are never shown as changed for it."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes():
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                yield from (f" {line}" for line in before[i1:i2])
                continue
            yield from (f"-{line}" for line in before[i1:i2])
            yield from (f"+{line}" for line in after[j1:j2])


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _lines(text: str) -> list[str]:
    """Lines as `patch` counts them: form feeds and the like end none."""
    return [line for line in _LINE.findall(text) if line]


class Verdict(enum.Enum):
    """How far the project is."""

    READY = "ready to rehearse"
    MISSING = "not ready: work by hand is left"
    NOT_TENSORFLOW = "no TensorFlow code was found"


@dataclass(frozen=True)
class Migration:
    """The whole result. `told` is ordered by what blocks a run, then by place."""

    root: Path
    options: Options
    files: tuple[MigratedFile, ...]
    told: tuple[Told, ...]
    apis: tuple[ApiUse, ...]
    unreadable: tuple[Unreadable, ...]
    skipped: tuple[tuple[PurePosixPath, str], ...]
    failures: tuple[Failure, ...]
    suppressed: int
    entries: tuple[Entry, ...] = ()
    is_one_file: bool = False
    in_baseline: int = 0
    misspelt: tuple[str, ...] = ()  # comments that ignore a rule which is none, a sentence each

    @cached_property
    def changed(self) -> tuple[MigratedFile, ...]:
        return tuple(file for file in self.files if file.is_changed)

    @cached_property
    def counts(self) -> Counter[Outcome]:
        return Counter(told.outcome for told in self.told)

    def of(self, outcome: Outcome) -> tuple[Told, ...]:
        return tuple(told for told in self.told if told.outcome is outcome)

    @cached_property
    def blocking(self) -> tuple[Told, ...]:
        """What is left by hand and stops a run."""
        return tuple(
            told
            for told in self.told
            if told.outcome is Outcome.BY_HAND and told.concern is Concern.RUN
        )

    @property
    def files_left_alone(self) -> int:
        """How many files a broken rule cost; a rule for the whole project costs none."""
        paths = {failure.path for failure in self.failures}
        return len(paths - {PurePosixPath(".")}) or len(paths)

    @property
    def verdict(self) -> Verdict:
        if not self.apis and not self.told:
            return Verdict.NOT_TENSORFLOW
        if self.blocking or self.failures or self.unreadable:
            return Verdict.MISSING
        return Verdict.READY

    def missing(self) -> Iterator[str]:
        """What stands between the project and a rehearsal, one sentence each."""
        if self.failures:
            yield f"{_count(self.files_left_alone, 'file')} left alone by a mistake of ours"
        if self.unreadable:
            yield f"{_count(len(self.unreadable), 'file or cell', 'files or cells')} unreadable"
        for rule, number in Counter(told.rule.name for told in self.blocking).most_common():
            yield f"{rule}: {_count(number, 'place')} to change by hand"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
