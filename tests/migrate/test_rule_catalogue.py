"""Every rule explains itself, names its source, has a concern and a test of its own."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pytest

from trainferry.migrate.rule import IMPORT_RULE, Concern, Rule, all_rules

TESTS = Path(__file__).parent / "rules"
LONGEST_PAGE_LINE = 100
EVERY_RULE = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)

# A rule without an example says that it only tells.
_TELLS = re.compile(r"\b(told|tells|advice|by hand: always)\b", re.IGNORECASE)
_PARAMETERS = {"calls": 2, "names": 3, "files": 1, "projects": 1}


def test_names_are_unique_and_plain() -> None:
    names = [rule.name for rule in (*all_rules(), IMPORT_RULE)]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z]+(_[a-z0-9]+)*", name) for name in names)


@EVERY_RULE
def test_it_has_a_title(rule: Rule) -> None:
    first, _, rest = rule.page.strip().partition("\n")
    assert first.endswith(".")
    assert first[0].isupper()
    assert rest.startswith("\n"), "an empty line follows the title"
    assert rule.title == first[:-1]


def test_titles_are_unique() -> None:
    titles = [rule.title for rule in all_rules()]
    assert len(titles) == len(set(titles))


@EVERY_RULE
def test_it_shows_what_changes_or_says_that_it_only_tells(rule: Rule) -> None:
    has_example = re.search(r"(?m)^    [-+]", rule.page) is not None
    assert has_example or _TELLS.search(rule.page)


@EVERY_RULE
def test_it_says_where_it_does_not_apply(rule: Rule) -> None:
    assert re.search(r"(?m)^(By hand|Not touched|Not told):", rule.page)


@EVERY_RULE
def test_it_names_its_source(rule: Rule) -> None:
    assert re.search(r"(?m)^Source: \S", rule.page)


@EVERY_RULE
def test_its_page_is_for_users(rule: Rule) -> None:
    lines = [line for line in rule.page.splitlines() if not line.startswith("    ")]
    assert max(map(len, lines)) <= LONGEST_PAGE_LINE
    assert not re.search(r"\bR-\d{3}|TODO", rule.page)


@EVERY_RULE
def test_it_has_a_concern_and_handlers(rule: Rule) -> None:
    assert isinstance(rule.concern, Concern)
    assert rule.handlers
    for kind, names, handler in rule.handlers:
        assert names, "a handler asks for something"
        assert len(inspect.signature(handler).parameters) == _PARAMETERS[kind]
        assert inspect.isgeneratorfunction(handler)


@EVERY_RULE
def test_it_asks_for_canonical_names(rule: Rule) -> None:
    for kind, names, _ in rule.handlers:
        if kind in ("calls", "names"):
            wrong = [
                name
                for name in names
                if re.match(r"tensorflow\.(?!python|core)|tf\.compat\.v1\b", name)
            ]
            assert wrong == []


@EVERY_RULE
def test_it_has_a_test_file_that_names_it(rule: Rule) -> None:
    path = TESTS / f"test_{rule.name}.py"
    assert path.is_file()
    text = path.read_text(encoding="utf-8")
    assert f'"{rule.name}"' in text
    assert len(re.findall(r"(?m)^def test_", text)) >= 2


def test_no_test_file_is_left_without_a_rule() -> None:
    names = {rule.name for rule in all_rules()}
    tested = {path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py")}
    assert tested - names <= {"all_rules", "rules_together"}


def test_rules_need_nothing_but_the_standard_library() -> None:
    assert all_rules()
    assert "tensorflow" not in sys.modules
