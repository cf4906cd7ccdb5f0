"""What the adapter wraps is wrapped once."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "double_wrapping"
STAR = "from npu_bridge.npu_init import *\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "s = tf.Session(config=npu_config_proto(config_proto=npu_config_proto(config)))",
            "s = tf.Session(config=npu_config_proto(config))",
        ),
        (
            "o = npu_distributed_optimizer_wrapper( npu_distributed_optimizer_wrapper(o) )",
            "o = npu_distributed_optimizer_wrapper(o)",
        ),
        (
            "o = NPUDistributedOptimizer(npu_distributed_optimizer_wrapper(o))",
            "o = npu_distributed_optimizer_wrapper(o)",
        ),
        (
            "h = npu_hooks_append(hooks_list=npu_hooks_append(npu_hooks_append(h)))",
            "h = npu_hooks_append(h)",
        ),
    ],
)
def test_the_outer_wrapper_goes(before: str, after: str) -> None:
    told = check_migrated(f"{STAR}{before}\n", f"{STAR}{after}\n", RULE)
    assert set(outcomes(told)) == {Outcome.CHANGED}


def test_wrappers_in_two_statements_are_told() -> None:
    line = "opt = npu_distributed_optimizer_wrapper(opt)\n"
    told = check_unchanged(f"{STAR}opt = make()\n{line}{line}", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_branches_and_other_optimizers_are_wrapped_once_each() -> None:
    text = """\
        from npu_bridge.npu_init import *
        if a:
            opt = npu_distributed_optimizer_wrapper(one)
        else:
            opt = npu_distributed_optimizer_wrapper(opt)
        opt = make()
        opt = npu_distributed_optimizer_wrapper(opt)
        config = npu_run_config_init(run_config=make(session_config=npu_config_proto()))
        """
    assert check_unchanged(text, RULE) == []


def test_wrappers_of_somebody_else_are_not_ours() -> None:
    text = "from mine import npu_config_proto\nc = npu_config_proto(npu_config_proto(c))\n"
    assert check_unchanged(text, RULE) == []
