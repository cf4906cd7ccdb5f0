"""Mixed precision is chosen in one way only."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "one_mixed_precision"


@pytest.mark.parametrize(
    "line",
    [
        "os.environ['TF_ENABLE_AUTO_MIXED_PRECISION'] = '1'",
        "os.environ['TF_ENABLE_AUTO_MIXED_PRECISION_GRAPH_REWRITE'] = flag",
        "environ['TF_ENABLE_AUTO_MIXED_PRECISION'] = '1'",
        "os.putenv('TF_ENABLE_AUTO_MIXED_PRECISION', '1')",
        "os.environ.update({'TF_ENABLE_AUTO_MIXED_PRECISION': '1'})",
        "policy = tf.keras.mixed_precision.experimental.Policy('mixed_float16')",
        "opt = keras.mixed_precision.experimental.LossScaleOptimizer(opt, 'dynamic')",
    ],
)
def test_other_ways_are_told(line: str) -> None:
    text = (
        "import os\nfrom os import environ\nimport tensorflow as tf\nfrom tensorflow import keras"
    )
    told = check_unchanged(f"{text}\n{line}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "line",
    [
        "os.environ['TF_ENABLE_AUTO_MIXED_PRECISION'] = '0'",
        "os.environ['TF_CPP_MIN_LOG_LEVEL'] = '1'",
        "print('TF_ENABLE_AUTO_MIXED_PRECISION')",
    ],
)
def test_what_switches_nothing_on_is_not_told(line: str) -> None:
    assert check_unchanged(f"import os\nimport tensorflow as tf\n{line}\n", RULE) == []
