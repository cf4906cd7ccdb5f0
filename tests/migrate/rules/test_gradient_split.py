"""Projects that average gradients hear once how to group them."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_project, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "gradient_split"
STAR = "from npu_bridge.npu_init import *\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{STAR}opt = npu_distributed_optimizer_wrapper(opt)\n",
        "from npu_bridge.estimator.npu.npu_optimizer import NPUDistributedOptimizer as D\nD(opt)\n",
    ],
)
def test_told_where_gradients_are_averaged(text: str) -> None:
    told = check_unchanged(text, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "`set_split_strategy_by_size([60, 20, 20])` of `hccl.split.api`" in told[0].message


def test_told_once_per_project() -> None:
    text = f"{STAR}opt = npu_distributed_optimizer_wrapper(opt)\n"
    assert len(check_project({"a.py": text, "b.py": text}, {}, RULE)) == 1


def test_a_project_that_chose_its_groups_hears_nothing() -> None:
    text = f"{STAR}npu_distributed_optimizer_wrapper(opt)\nset_split_strategy_by_idx([86, 160])\n"
    assert check_unchanged(text, RULE) == []


def test_one_device_and_other_libraries_are_not_ours() -> None:
    assert check_unchanged("import tensorflow as tf\ntf.train.AdamOptimizer()\n", RULE) == []
    assert check_unchanged("from mylib import NPUDistributedOptimizer as D\nD(o)\n", RULE) == []
