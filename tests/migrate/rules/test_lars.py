"""LARS is told the NPU's operator with the numbers of the call."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "lars"


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\ntf.contrib.opt.LARSOptimizer(lr, weight_decay=decay)\n",
        "from tensorflow.contrib import opt as contrib_opt\n"
        "contrib_opt.LARSOptimizer(lr, 0.9, decay)\n",
    ],
)
def test_the_text_has_the_numbers_of_the_call(text: str) -> None:
    told = check_unchanged(text, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert (
        "`npu_ops.LARSV2(weight, grad, decay, learning_rate, hyperpara=0.001, epsilon=0.0)`"
        in told[0].message
    )


def test_lars_of_another_library_is_not_ours() -> None:
    assert check_unchanged("from mylib import LARSOptimizer\nLARSOptimizer(1)\n", RULE) == []
