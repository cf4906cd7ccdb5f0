"""With a loop on the device the input must not end, and must be initialised."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "offloaded_input"
OFFLOAD = Options(also=frozenset(("loop_offload",)))

PROGRAM = """\
import tensorflow as tf
def train_input():
    dataset = tf.data.TFRecordDataset(files)
    return dataset.{made}
tf.estimator.Estimator(model_fn).train(train_input)
"""


@pytest.mark.parametrize(
    "made", ["make_one_shot_iterator()", "repeat(epochs)", "shuffle(2000000)", "shuffle(1e6)"]
)
def test_what_stops_a_loop_is_told_only_with_a_loop(made: str) -> None:
    text = PROGRAM.format(made=made)
    assert outcomes(check_unchanged(text, RULE, OFFLOAD)) == [Outcome.BY_HAND]
    assert check_unchanged(text, RULE) == []


@pytest.mark.parametrize(
    "made",
    ["make_initializable_iterator()", "repeat()", "repeat(-1)", "repeat(None)", "shuffle(1000)"],
)
def test_what_a_loop_can_use_is_fine(made: str) -> None:
    assert check_unchanged(PROGRAM.format(made=made), RULE, OFFLOAD) == []


def test_evaluation_is_not_ours() -> None:
    text = PROGRAM.format(made="repeat(epochs)").replace(".train(", ".evaluate(")
    assert check_unchanged(text, RULE, OFFLOAD) == []
