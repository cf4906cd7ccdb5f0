"""Graph optimizations that the NPU needs are on, the others stay as the user has them."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "grappler_for_npu"
REWRITER = "from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig\n"
OPTIONS = "config.graph_options.rewrite_options"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            f"{OPTIONS}.constant_folding = RewriterConfig.OFF",
            f"{OPTIONS}.constant_folding = RewriterConfig.ON",
        ),
        (f"{OPTIONS}.disable_model_pruning = True", f"{OPTIONS}.disable_model_pruning = False"),
        (f"{OPTIONS}.disable_meta_optimizer = True", f"{OPTIONS}.disable_meta_optimizer = False"),
        (f"{OPTIONS}.remapping = RewriterConfig.ON", f"{OPTIONS}.remapping = RewriterConfig.OFF"),
        (
            f"o = {OPTIONS}\no.layout_optimizer = RewriterConfig.OFF",
            f"o = {OPTIONS}\no.layout_optimizer = RewriterConfig.ON",
        ),
        (
            "o = RewriterConfig()\no.loop_optimization = RewriterConfig.OFF",
            "o = RewriterConfig()\no.loop_optimization = RewriterConfig.ON",
        ),
        (
            "o = RewriterConfig(shape_optimization=RewriterConfig.OFF, min_graph_nodes=1)",
            "o = RewriterConfig(shape_optimization=RewriterConfig.ON, min_graph_nodes=1)",
        ),
    ],
)
def test_what_the_npu_needs_is_on(before: str, after: str) -> None:
    told = check_migrated(f"{REWRITER}{before}\n", f"{REWRITER}{after}\n", RULE)
    assert outcomes(told) == [Outcome.CHANGED]


def test_another_spelling_is_known() -> None:
    head = "from tensorflow.core.protobuf import rewriter_config_pb2 as r\n"
    check_migrated(
        f"{head}o = r.RewriterConfig(layout_optimizer=r.RewriterConfig.OFF)\n",
        f"{head}o = r.RewriterConfig(layout_optimizer=r.RewriterConfig.ON)\n",
        RULE,
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{OPTIONS}.remapping = RewriterConfig.OFF",
        f"{OPTIONS}.memory_optimization = RewriterConfig.OFF",
        f"{OPTIONS}.constant_folding = RewriterConfig.AGGRESSIVE",
        f"{OPTIONS}.disable_model_pruning = False",
        "mine.constant_folding = RewriterConfig.OFF",
        "import tensorflow as tf\ntf.GraphOptions(optimizer_options=tf.OptimizerOptions())",
        "import tensorflow as tf\n"
        "tf.config.optimizer.set_experimental_options({'debug_stripper': True})",
    ],
)
def test_what_does_not_matter_stays(text: str) -> None:
    assert check_unchanged(f"{REWRITER}{text}\n", RULE) == []


@pytest.mark.parametrize(
    "text",
    [
        f"{OPTIONS}.constant_folding = level",
        f"{OPTIONS}.constant_folding = 2",
        f"{OPTIONS}.disable_model_pruning = FLAGS.no_pruning",
    ],
)
def test_values_that_cannot_be_seen_are_told(text: str) -> None:
    assert outcomes(check_unchanged(f"{REWRITER}{text}\n", RULE)) == [Outcome.BY_HAND]


def test_options_of_the_user_are_kept() -> None:
    head = "import tensorflow as tf\n"
    told = check_migrated(
        f"{head}tf.config.optimizer.set_experimental_options(options)\n",
        f"{head}from npu_bridge.npu_init import experimental_options\n"
        "tf.config.optimizer.set_experimental_options(dict(options, **experimental_options))\n",
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED]


def test_only_the_wrong_values_of_a_dictionary_change() -> None:
    check_migrated(
        """\
        from tensorflow.compat.v1 import config
        config.optimizer.set_experimental_options(
            {"layout_optimizer": False, "debug_stripper": True, "disable_model_pruning": True})
        """,
        """\
        from tensorflow.compat.v1 import config
        config.optimizer.set_experimental_options(
            {"layout_optimizer": True, "debug_stripper": True, "disable_model_pruning": False})
        """,
        RULE,
    )
