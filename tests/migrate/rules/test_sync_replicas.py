"""Synchronous parameter servers are told what takes their place."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "sync_replicas"


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nopt = tf.train.SyncReplicasOptimizer(adam, 4)\n",
        "from tensorflow.compat.v1.train import SyncReplicasOptimizer as S\nopt = S(opt=adam)\n",
    ],
)
def test_the_text_has_the_optimizer_of_the_call(text: str) -> None:
    told = check_unchanged(text, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "`npu_distributed_optimizer_wrapper(adam)`" in told[0].message
    assert check_unchanged(text, RULE, Options(distributed="none")) == []


def test_another_library_is_not_ours() -> None:
    text = "from mylib import tf\ntf.train.SyncReplicasOptimizer(adam)\n"
    assert check_unchanged(text, RULE) == []
