"""Every value is read back as it was, whatever the text."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given, settings, strategies

from tests.launch.write.plans import TEXTS
from trainferry.launch.write.yaml_text import (
    Block,
    Noted,
    Yaml,
    quoted,
    yaml_comment,
    yaml_document,
)

LOOKS_LIKE = strategies.sampled_from(
    ["yes", "No", "on", "~", "null", "NULL", "1", "1e3", "0x1f", "0o7", "1_000", "12:30:45", ".inf",
     ".nan", "=", "<<", "2024-01-01", "- a", "a: b", "a #b", "&a", "*a", "!a", "%a", "@a", "`a",
     "---", "...", "|", ">", "{}", "[]", " a", "a ", "a:", "?", "", "y", "N", "True", "\t", "0b1"]
)  # fmt: skip
STRINGS = LOOKS_LIKE | TEXTS
VALUES = strategies.recursive(
    STRINGS | strategies.integers() | strategies.booleans(),
    lambda inner: (
        strategies.lists(inner, max_size=4) | strategies.dictionaries(STRINGS, inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(STRINGS)
def test_a_text_is_read_back_as_this_text(text: str) -> None:
    assert yaml.safe_load(quoted(text)) == text


@settings(deadline=None)
@given(strategies.dictionaries(STRINGS, VALUES, max_size=5), TEXTS)
def test_a_document_is_read_back_as_these_values(value: dict[str, Any], head: str) -> None:
    text = yaml_document(head, value) + yaml_comment(head)
    assert list(yaml.safe_load_all(text)) == [value or None]


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_a_comment_changes_nothing(note: str, text: str) -> None:
    value: dict[str, Yaml] = {
        "a": Noted(text, note),
        "b": [Noted({"c": Noted(text, note), "d": 1}, note), Noted(text, note)],
    }
    assert yaml.safe_load(yaml_document(note, value)) == {
        "a": text,
        "b": [{"c": text, "d": 1}, text],
    }


@settings(deadline=None)
@given(strategies.lists(STRINGS).map("\n".join))
def test_a_block_is_read_back_as_this_text(text: str) -> None:
    read = yaml.safe_load(yaml_document("", {"a": {"b": Block(text)}, "c": [Block(text)]}))
    assert read == {"a": {"b": text}, "c": [text]}


def test_a_script_is_shown_line_by_line() -> None:
    text = yaml_document("a script", {"start.sh": Block('set -e\n\nif x; then\n  y "$z"\nfi\n')})
    assert text == ('---\n# a script\nstart.sh: |\n  set -e\n\n  if x; then\n    y "$z"\n  fi\n')
