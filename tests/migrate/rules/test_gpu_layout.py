"""A layout that CUDA decides is told."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "gpu_layout"


@pytest.mark.parametrize(
    "text",
    [
        "f = 'channels_first' if tf.test.is_built_with_cuda() else 'channels_last'",
        "f = ('NCHW' if tf.compat.v1.test.is_gpu_available() else 'NHWC')",
        "if tf.test.is_gpu_available():\n    f = 'NCHW'\nelse:\n    f = 'NHWC'",
        "if no_gpu or not tf.test.is_gpu_available():\n    f = 'NHWC'",
    ],
)
def test_the_layout_that_results_is_told(text: str) -> None:
    told = check_unchanged(f"import tensorflow as tf\n{text}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert told[0].message.endswith(("`channels_last`", "`NHWC`"))


@pytest.mark.parametrize(
    "text",
    [
        "n = 1 if tf.test.is_gpu_available() else 0",
        "if tf.test.is_gpu_available() and f == 'NHWC':\n    log('consider NCHW')",
        "ok = tf.test.is_built_with_cuda()",
        "f = 'NCHW' if mine.is_gpu_available() else 'NHWC'",
    ],
)
def test_other_questions_are_not_ours(text: str) -> None:
    assert check_unchanged(f"import tensorflow as tf\nimport mine\n{text}\n", RULE) == []
