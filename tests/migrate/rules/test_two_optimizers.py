"""Two optimizers in one run are told for the chip with one status."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "two_optimizers"
FIRST = Options(chip="910")
TEXT = """\
import tensorflow as tf
wrap = tf.contrib.mixed_precision.LossScaleOptimizer
d_opt = wrap(d_opt, manager)
g_opt = wrap(g_opt, manager)
self.d_train = d_opt.minimize(d_loss)
self.g_train = g_opt.minimize(g_loss)
sess.run([self.d_train, self.g_train, d_loss])
"""


def test_one_run_for_two_optimizers_is_told() -> None:
    assert outcomes(check_unchanged(TEXT, RULE, FIRST)) == [Outcome.BY_HAND]


def test_a_run_each_is_right() -> None:
    text = TEXT.replace("self.g_train, d_loss", "d_loss") + "sess.run(self.g_train)\n"
    assert check_unchanged(text, RULE, FIRST) == []


def test_without_a_loss_scale_nobody_asks() -> None:
    text = TEXT.replace("tf.contrib.mixed_precision.LossScaleOptimizer", "mine")
    assert check_unchanged(text, RULE, FIRST) == []


def test_newer_chips_show_overflows_in_the_values() -> None:
    assert check_unchanged(TEXT, RULE) == []
