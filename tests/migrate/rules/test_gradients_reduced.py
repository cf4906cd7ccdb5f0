"""Gradients that pass the optimizer by are told."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "gradients_reduced"
HCCL = Options(distributed="hccl")
APPLIED = """\
    import tensorflow as tf

    def train(loss, optimizer):
        gradients = tf.gradients(loss, variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
        return optimizer.apply_gradients(zip(gradients, variables))
    """


def test_gradients_that_are_applied_are_told() -> None:
    told = check_unchanged(APPLIED, RULE, HCCL)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "npu_allreduce(tf.gradients(...))" in told[0].message


def test_gradients_of_a_penalty_are_not() -> None:
    text = (
        "import tensorflow as tf\ndef penalty(d, x):\n    return tf.norm(tf.gradients(d, x)[0])\n"
    )
    assert check_unchanged(text, RULE, HCCL) == []


def test_gradients_that_are_reduced_already_are_not() -> None:
    text = APPLIED.replace("tf.gradients(loss, variables)", "npu_allreduce(tf.gradients(loss, v))")
    text = text.replace(
        "import tensorflow as tf", "import tensorflow as tf\n    from npu_bridge.npu_init import *"
    )
    assert check_unchanged(text, RULE, HCCL) == []


def test_a_program_for_one_device_needs_none() -> None:
    assert check_unchanged(APPLIED, RULE) == []
