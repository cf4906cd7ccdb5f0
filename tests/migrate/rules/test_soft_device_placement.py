"""Soft placement is on."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "soft_device_placement"


@pytest.mark.parametrize(
    ("before", "after"),
    [("False", "True"), ("enabled=False", "enabled=True"), ("FLAGS.soft", "True")],
)
def test_placement_becomes_soft(before: str, after: str) -> None:
    head = "import tensorflow as tf\ntf.compat.v1.config.set_soft_device_placement"
    told = check_migrated(f"{head}({before})\n", f"{head}({after})\n", RULE)
    assert outcomes(told) == [Outcome.CHANGED]


@pytest.mark.parametrize("argument", ["ask()", "**options"])
def test_what_cannot_be_seen_is_told(argument: str) -> None:
    text = f"from tensorflow import config as c\nc.set_soft_device_placement({argument})\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


def test_soft_placement_and_that_of_others_stay() -> None:
    text = """\
        import tensorflow as tf
        tf.config.set_soft_device_placement(True)
        mine.set_soft_device_placement(False)
        """
    assert check_unchanged(text, RULE) == []
