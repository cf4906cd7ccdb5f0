"""The switch for loops and branches is told once."""

from __future__ import annotations

import textwrap

from tests.migrate.rules.migrated import check_unchanged, findings, migrate, outcomes
from trainferry.migrate.rule import Outcome

RULE = "control_flow_v2"


def test_it_is_told_once_per_project() -> None:
    loop = "import tensorflow.compat.v1 as t\nt.while_loop(a, b, c)\nt.cond(a, b, c)\n"
    told = findings(migrate({"a.py": loop, "b.py": loop}, RULE))
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "the first of 4" in told[0].message
    assert "tf.enable_control_flow_v2()" in told[0].message


def test_it_is_not_told_where_it_is_done() -> None:
    text = "import tensorflow as tf\ntf.enable_control_flow_v2()\ntf.cond(a, b, c)\n"
    assert check_unchanged(text, RULE) == []


def test_switching_it_off_is_told() -> None:
    text = "import tensorflow as tf\ntf.disable_control_flow_v2()\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


def test_input_pipelines_and_other_libraries_are_left_alone() -> None:
    text = """\
        import tensorflow as tf

        def flip(x):
            return tf.cond(a, b, c)

        data = data.map(flip)
        """
    assert check_unchanged(textwrap.dedent(text), RULE) == []
    assert check_unchanged("from mylib import tf\ntf.cond(a, b, c)\n", RULE) == []
