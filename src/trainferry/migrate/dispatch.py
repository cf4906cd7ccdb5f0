"""Brings rules and files together: every handler meets what it asked for."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Finding, Rule, Spot, all_rules
from trainferry.migrate.values import CLASSES


@dataclass(frozen=True)
class Failure:
    """A rule that broke on a file: our bug. The file is left as it was."""

    path: PurePosixPath
    rule: str
    trace: str


@dataclass(frozen=True)
class Found:
    """A finding and the rule that made it."""

    rule: Rule
    finding: Finding


def chosen_rules(options: Options) -> tuple[Rule, ...]:
    """The rules that take part: without those for opting in, unless asked for."""
    return tuple(
        rule
        for rule in all_rules()
        if (not options.only or rule.name in options.only)
        and rule.name not in options.skip
        and (not rule.is_opt_in or rule.name in options.also | options.only)
        and rule.is_lint >= options.lint
    )


class Dispatch:
    """The handlers of some rules, by what they ask for."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._calls = _Handlers()
        self._names = _Handlers()
        self._files: list[tuple[Rule, Callable[[File], Iterator[Finding]]]] = []
        self._projects: list[tuple[Rule, Callable[[ProjectFiles], Iterator[Finding]]]] = []
        for rule in rules:
            for kind, names, handler in rule.handlers:
                if kind == "files":
                    self._files.append((rule, handler))
                elif kind == "projects":
                    self._projects.append((rule, handler))
                else:
                    (self._calls if kind == "calls" else self._names).add(rule, names, handler)
        self._methods = self._calls.methods()

    def on_project(self, project: ProjectFiles) -> Iterator[Found | Failure]:
        for rule, handler in self._projects:
            yield from _guarded(rule, PurePosixPath("."), handler, project)

    def on_file(self, file: File) -> Iterator[Found | Failure]:
        path = file.source.path
        for rule, file_handler in self._files:
            yield from _guarded(rule, path, file_handler, file)
        for call in self._calls_of(file):
            for rule, handler in self._calls.of(call.name):
                yield from _guarded(rule, path, handler, call, file)
        if self._names:
            for node, name in file.uses:
                for rule, handler in self._names.of(name):
                    yield from _guarded(rule, path, handler, Spot(file.source, node), name, file)

    def _calls_of(self, file: File) -> Iterator[Call]:
        yield from file.calls
        for method in sorted(self._methods & file.names.called_attributes(file.source)):
            yield from file.method_calls(method)


class _Handlers:
    """Handlers by full name, and by the start of a name."""

    def __init__(self) -> None:
        self._exact: dict[str, list[tuple[Rule, Callable[..., Any]]]] = {}
        self._below: dict[str, list[tuple[Rule, Callable[..., Any]]]] = {}
        self._known: dict[str, tuple[tuple[Rule, Callable[..., Any]], ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._exact or self._below)

    def add(self, rule: Rule, names: Iterable[str], handler: Callable[..., Any]) -> None:
        for name in names:
            if name.endswith(".*"):
                self._below.setdefault(name.removesuffix(".*"), []).append((rule, handler))
            else:
                self._exact.setdefault(name, []).append((rule, handler))

    def of(self, name: str) -> Sequence[tuple[Rule, Callable[..., Any]]]:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = tuple(self._find(name))
        return found

    def _find(self, name: str) -> Iterator[tuple[Rule, Callable[..., Any]]]:
        yield from self._exact.get(name, ())
        above = name
        while "." in above:
            above = above.rpartition(".")[0]
            yield from self._below.get(above, ())

    def methods(self) -> set[str]:
        """The methods that are asked for of classes whose values can be followed."""
        split = (name.rpartition(".") for name in self._exact)
        return {method for owner, _, method in split if owner in CLASSES}


def _guarded(
    rule: Rule, path: PurePosixPath, handler: Callable[..., Iterator[Finding]], *what: object
) -> Iterator[Found | Failure]:
    try:
        for finding in handler(*what):
            yield Found(rule, finding)
    except Exception:  # noqa: BLE001 - one broken rule must not lose a run; it is told as our bug
        yield Failure(path, rule.name, traceback.format_exc())
