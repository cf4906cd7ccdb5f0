"""Migrates small texts for the tests of the rules."""

from __future__ import annotations

import ast
import importlib
import textwrap
from collections.abc import Mapping
from pathlib import PurePosixPath

from trainferry.migrate.dispatch import chosen_rules
from trainferry.migrate.options import Options
from trainferry.migrate.read import Source, module_name, read_source
from trainferry.migrate.rounds import Result, Told, apply_rules
from trainferry.migrate.rule import IMPORT_RULE, Outcome, rule_of

PLAIN = Options()


def check_migrated(before: str, after: str, rule: str, options: Options = PLAIN) -> list[Told]:
    """Migrate with one rule; the result is `after`, parses, and stays when migrated again."""
    result = migrate({"program.py": before}, rule, options)
    assert text_after(result) == textwrap.dedent(after)
    ast.parse(text_after(result))
    again = migrate({"program.py": text_after(result)}, rule, options)
    assert text_after(again) == text_after(result), "a second run changed it again"
    return findings(result)


def check_unchanged(text: str, rule: str, options: Options = PLAIN) -> list[Told]:
    """Migrate with one rule; not a byte may change."""
    result = migrate({"program.py": text}, rule, options)
    assert result.after == {}
    return findings(result)


def check_project(
    before: Mapping[str, str], after: Mapping[str, str], rule: str, options: Options = PLAIN
) -> list[Told]:
    """Migrate several files with one rule; `after` has those that change."""
    result = migrate(before, rule, options)
    changed = {str(path): source.data.decode() for path, source in result.after.items()}
    assert changed == {path: textwrap.dedent(text) for path, text in after.items()}
    return findings(result)


def migrate(files: Mapping[str, str], rule: str, options: Options = PLAIN) -> Result:
    """Apply one rule, or all for "*"; no rule may break."""
    sources = [_source(path, text) for path, text in files.items()]
    if rule == "*":
        rules = chosen_rules(options)
    else:
        rules = (rule_of(importlib.import_module(f"trainferry.migrate.rules.{rule}")),)
    result = apply_rules(sources, rules, options)
    assert result.failures == []
    return result


def text_after(result: Result, path: str = "program.py") -> str:
    place = PurePosixPath(path)
    before = next(source for source in result.before if source.path == place)
    return result.after.get(place, before).data.decode()


def findings(result: Result) -> list[Told]:
    """All that was told but the imports, in the order of the text."""
    told = [one for one in result.told if one.rule is not IMPORT_RULE]
    return sorted(told, key=lambda one: (one.path, one.start, one.message))


def outcomes(told: list[Told]) -> list[Outcome]:
    return [one.outcome for one in told]


def _source(path: str, text: str) -> Source:
    place = PurePosixPath(path)
    source = read_source(place, textwrap.dedent(text).encode(), module_name(place))
    assert isinstance(source, Source), source
    return source
