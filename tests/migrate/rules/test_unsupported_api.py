"""Names that do not run are told, unless another rule says more."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome, all_rules
from trainferry.migrate.rules.unsupported_api import _TOLD_ELSEWHERE
from trainferry.migrate.support import Verdict, verdict

RULE = "unsupported_api"


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\ncell = tf.lite.experimental.nn.TFLiteLSTMCell(8)\n",
        "from tensorflow.compat.v1 import enable_tensor_equality as e\ne()\n",
        "import tensorflow as tf\nsettings = [tf.enable_v2_tensorshape]\n",
    ],
)
def test_a_name_that_does_not_run_is_told_with_the_reason(text: str) -> None:
    told = check_unchanged(text, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "does not run on an NPU: " in told[0].message


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\ntf.is_finite(x)\n",
        "import tensorflow as tf\ntf.tpu.rewrite(f)\n",
        "import tensorflow as tf\nif not tf.executing_eagerly(): pass\n",
        "import tensorflow as tf\ntf.nn.relu(x)\n",
        "import tensorflow as tf\ntf.nn.ctc_loss(a, b, c)\n",
        "import unittest\nimport tensorflow as tf\ntf.enable_tensor_equality()\n",
        "from mylib import tf\ntf.enable_tensor_equality()\n",
    ],
)
def test_names_that_run_or_are_told_elsewhere_are_left_alone(text: str) -> None:
    assert check_unchanged(text, RULE) == []


def test_another_rule_really_speaks_of_what_is_left_to_it() -> None:
    asked = _asked_by_others()
    silent = [
        known
        for known in _TOLD_ELSEWHERE
        if not any(name == known or name.startswith(f"{known}.") for name in asked)
    ]
    assert silent == []


def test_no_other_rule_tells_the_same() -> None:
    asked = {name.replace("tf.compat.v2.", "tf.") for name in _asked_by_others()}
    told = {name for name in asked if verdict(name).verdict is Verdict.UNSUPPORTED}
    twice = [
        name
        for name in sorted(told)
        if name.startswith("tf.")
        and not any(name == known or name.startswith(f"{known}.") for known in _TOLD_ELSEWHERE)
    ]
    assert twice == []


def _asked_by_others() -> set[str]:
    return {
        name.removesuffix(".*")
        for rule in all_rules()
        for kind, names, _ in rule.handlers
        if rule.name != RULE and kind in ("calls", "names")
        for name in names
    }
