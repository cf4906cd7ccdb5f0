"""A loss that is scaled by hand is told for the chip that hides overflows."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "hand_written_loss_scale"
FIRST = Options(chip="910")
TEXT = """\
import tensorflow as tf

def step(optimizer, loss):
    scaled = optimizer.compute_gradients(loss * flags.loss_scale)
    return [(grad / flags.loss_scale, var) for grad, var in scaled]
"""


def test_told_for_the_first_generation() -> None:
    told = check_unchanged(TEXT, RULE, FIRST)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "FixedLossScaleManager(loss_scale=flags.loss_scale)" in told[0].message


def test_an_inverse_counts_as_well() -> None:
    text = TEXT.replace("grad / flags.loss_scale", "grad * (1. / flags.loss_scale)")
    assert len(check_unchanged(text, RULE, FIRST)) == 1


def test_newer_chips_show_their_overflows() -> None:
    assert check_unchanged(TEXT, RULE) == []


def test_other_products_are_not_ours() -> None:
    text = "import tensorflow as tf\nx = tf.add(loss * weight, 1)\ny = regularisation_loss * 2\n"
    assert check_unchanged(text, RULE, FIRST) == []
