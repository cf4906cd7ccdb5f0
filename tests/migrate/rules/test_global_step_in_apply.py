"""Steps that are left out must not be counted."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_project, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "global_step_in_apply"
SCALED = """\
import tensorflow as tf
opt = tf.contrib.mixed_precision.LossScaleOptimizer(opt, manager)
"""


@pytest.mark.parametrize(
    "line",
    [
        "train_op = tf.group(train_op, [global_step.assign(new_global_step)])",
        "train_op = tf.group(train_op, tf.assign_add(self.global_step, 1))",
        "train_op = tf.group(train_op, tf.compat.v1.assign(global_step, global_step + 1))",
    ],
)
def test_a_count_beside_the_optimizer_is_told(line: str) -> None:
    assert outcomes(check_unchanged(f"{SCALED}{line}\n", RULE)) == [Outcome.BY_HAND]


def test_the_loss_scale_may_be_in_another_file() -> None:
    files = {"scale.py": SCALED, "step.py": "import tensorflow as tf\nglobal_step.assign(step)\n"}
    assert len(check_project(files, {}, RULE)) == 1


def test_a_count_in_apply_gradients_is_right() -> None:
    text = f"{SCALED}def apply_gradients(self, g, global_step):\n    global_step.assign_add(1)\n"
    assert check_unchanged(text, RULE) == []


def test_without_a_loss_scale_nothing_is_left_out() -> None:
    assert check_unchanged("import tensorflow as tf\ntf.assign_add(global_step, 1)\n", RULE) == []


def test_other_variables_are_not_ours() -> None:
    assert check_unchanged(f"{SCALED}tf.assign_add(counter, 1)\n", RULE) == []
