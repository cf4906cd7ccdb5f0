"""A configuration has one NpuOptimizer."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "double_npu_optimizer"
ADD = """\
op = config.graph_options.rewrite_options.custom_optimizers.add()
op.name = "NpuOptimizer"
"""
OTHER = """\
more = config.graph_options.rewrite_options.custom_optimizers.add()
more.name = "NpuOptimizer"
"""
START = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\nconfig = tf.ConfigProto()\n"


def test_two_entries_are_one_too_many() -> None:
    told = check_unchanged(START + ADD + OTHER, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_an_entry_behind_the_wrapper_is_the_second() -> None:
    told = check_unchanged(START + "config = npu_config_proto(config_proto=config)\n" + ADD, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "`npu_config_proto`" in told[0].message


def test_an_entry_before_the_wrapper_is_right() -> None:
    assert check_unchanged(START + ADD + "config = npu_config_proto(config)\n", RULE) == []


def test_two_configurations_have_an_entry_each() -> None:
    text = START + ADD + "config = tf.ConfigProto()\n" + ADD
    assert check_unchanged(text, RULE) == []
    other = ADD.replace("config.", "self.config.")
    assert check_unchanged(START + ADD + other, RULE) == []


def test_branches_have_an_entry_each() -> None:
    block = "".join(f"    {line}\n" for line in ADD.splitlines())
    assert check_unchanged(f"{START}if a:\n{block}else:\n{block}", RULE) == []


def test_another_custom_optimizer_does_not_count() -> None:
    other = OTHER.replace("NpuOptimizer", "TensorRTOptimizer")
    assert check_unchanged(START + ADD + other, RULE) == []
