"""The Chinese half of the HTML report is complete."""

from __future__ import annotations

import re

import pytest

from trainferry.migrate import migration, support
from trainferry.migrate.report import chinese
from trainferry.migrate.rule import IMPORT_RULE, Concern, Outcome, all_rules

CHINESE = re.compile(r"[\u4e00-\u9fff]")
RULES = [IMPORT_RULE.name, *(rule.name for rule in all_rules())]


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_a_chinese_text(rule: str) -> None:
    text = chinese.rule_texts()[rule]
    assert CHINESE.search(text.title)
    assert not text.title.endswith("。")
    assert CHINESE.search(text.text)
    assert text.text.endswith("。")
    assert text.text.count("`") % 2 == 0


def test_no_chinese_text_is_left_of_a_rule_that_is_gone() -> None:
    assert set(chinese.rule_texts()) <= set(RULES)


def test_every_fixed_word_is_there_in_chinese() -> None:
    assert set(chinese.OUTCOMES) == set(chinese.OUTCOME_WORDS) == set(Outcome)
    assert set(chinese.CONCERNS) == set(Concern)
    assert set(chinese.VERDICTS) == set(migration.Verdict)
    assert set(chinese.SUPPORT) == set(support.Verdict)
