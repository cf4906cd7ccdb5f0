"""Summaries are told where the device loops, once per file."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "summary_on_host"
ALSO = Options(also=frozenset(("npu_estimator",)))
TEXT = """\
    import tensorflow as tf
    def model_fn(features, labels, mode, params):
        tf.summary.scalar("loss", loss)
        tf.compat.v1.summary.image("x", features)
    """


def test_summaries_of_a_model_are_told_once() -> None:
    assert outcomes(check_unchanged(TEXT, RULE, ALSO)) == [Outcome.BY_HAND]


def test_plain_estimators_keep_theirs() -> None:
    assert check_unchanged(TEXT, RULE) == []


def test_code_on_the_npu_hears_of_it() -> None:
    text = TEXT + "\n    from npu_bridge.npu_init import *\n    e = NPUEstimator(model_fn)\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]
    done = text + "    NPUEstimatorSpec(mode, host_call=(write, [loss]))\n"
    assert check_unchanged(done, RULE) == []


def test_other_summaries_are_not_ours() -> None:
    text = "import tensorflow as tf\ndef build(x):\n    tf.summary.scalar('x', x)\n"
    assert check_unchanged(text, RULE, ALSO) == []
