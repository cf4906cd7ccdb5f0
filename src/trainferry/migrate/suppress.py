"""Findings that a user does not want: said in a comment, or for a path in pyproject.toml.

    sess = tf.Session()  # trainferry: ignore[session_on_npu] runs on the host on purpose

A comment counts for the statement on its line; alone on a line, for the statement below.
"""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from trainferry.errors import UsageError
from trainferry.migrate.dispatch import Found
from trainferry.migrate.lines import line_end, line_start
from trainferry.migrate.read import Source
from trainferry.migrate.rule import IMPORT_RULE, all_rules

_COMMENT = re.compile(rb"#\s*trainferry:\s*ignore\b(?:\[([^\]\r\n]*)\])?")
_TABLE = 'write [tool.trainferry.ignore], and below it lines such as "tools/*" = ["gpu_options"]'


@dataclass
class Ignored:
    """What the project itself says; `seen` counts what was held back, by rule."""

    paths: Mapping[str, frozenset[str]] = field(default_factory=dict)
    seen: set[tuple[PurePosixPath, str, int]] = field(default_factory=set)

    def is_unwanted(self, found: Found, source: Source) -> bool:
        name = found.rule.name
        start = source.span(found.finding.at.node)[0]
        unwanted = self._is_for_path(name, source.path) or any(
            not rules or name in rules for rules in _comments(source, found)
        )
        if unwanted:
            self.seen.add((source.path, name, start))
        return unwanted

    def _is_for_path(self, name: str, path: PurePosixPath) -> bool:
        return any(
            (name in rules or "*" in rules) and fnmatch.fnmatch(str(path), pattern)
            for pattern, rules in self.paths.items()
        )


def read_ignored(root: Path) -> Ignored:
    """Read `[tool.trainferry.ignore]` of the project's pyproject.toml, if there is one."""
    file = root / "pyproject.toml"
    if not file.is_file():
        return Ignored()
    try:
        tables = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{file} cannot be read: {error}", hint="correct it, or take it out of the project"
        ) from None
    section: object = tables
    for name in ("tool", "trainferry", "ignore"):
        section = section.get(name, {}) if isinstance(section, dict) else {}
        if not isinstance(section, dict):
            raise UsageError(f"{file}: `{name}` must be a table", hint=_TABLE)
        if name == "trainferry" and (unknown := sorted(section.keys() - {"ignore"})):
            raise UsageError(f"{file}: [tool.trainferry] has no `{unknown[0]}`", hint=_TABLE)
    assert isinstance(section, dict)
    return Ignored({pattern: _rules(file, pattern, names) for pattern, names in section.items()})


def check_rule_names(names: frozenset[str], where: str) -> None:
    """Refuse names that no rule has, with the nearest one."""
    for name, hint in _unknown(names):
        raise UsageError(f"{where}: there is no rule `{name}`", hint=hint)


def find_misspelt(sources: Iterable[Source]) -> Iterator[str]:
    """A sentence for each comment that names a rule which is none, and so has no effect."""
    for source in sources:
        for match in _COMMENT.finditer(source.data):
            for name, hint in _unknown(_named(match)):
                line = source.data.count(b"\n", 0, match.start()) + 1
                yield f"{source.path}:{line}: there is no rule `{name}` to ignore; {hint}"


def _unknown(names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Names that no rule has, each with a hint."""
    import difflib

    known = [IMPORT_RULE.name, *(rule.name for rule in all_rules())]
    for name in sorted(names.difference(known)):
        near = difflib.get_close_matches(name, known, n=1)
        yield name, f"did you mean `{near[0]}`?" if near else "`trainferry rules` lists them"


def _rules(file: Path, pattern: str, names: object) -> frozenset[str]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f'{file}: [tool.trainferry.ignore] "{pattern}" must be a list of rules',
            hint=f'write "{pattern}" = ["gpu_options"], or ["*"] for all rules',
        )
    check_rule_names(frozenset(names) - {"*"}, str(file))
    return frozenset(names)


def _comments(source: Source, found: Found) -> list[frozenset[str]]:
    """The rules that each comment at a finding names; none means all."""
    data = source.data
    start, end = source.span(found.finding.at.node)
    lines = {line_start(data, start), line_start(data, max(start, end - 1))}
    texts = [data[line : line_end(data, line)] for line in lines]
    above = line_start(data, start) - 1
    if above > 0:
        line = data[line_start(data, above) : above]
        if line.lstrip().startswith(b"#"):
            texts.append(line)
    return [_named(match) for text in texts if (match := _COMMENT.search(text))]


def _named(comment: re.Match[bytes]) -> frozenset[str]:
    text = (comment.group(1) or b"").decode("utf-8", "replace")
    return frozenset(one.strip() for one in text.split(",") if one.strip())
