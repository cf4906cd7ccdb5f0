"""Files that export a graph hear once how it runs on an NPU."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "inference_export"
HEAD = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    "text",
    [
        "tf.graph_util.convert_variables_to_constants(s, g, ['o'])\n",
        "tf.compat.v1.saved_model.simple_save(s, 'd', {}, {})\n",
        "b = tf.saved_model.builder.SavedModelBuilder('d')\n"
        "tf.saved_model.builder.SavedModelBuilder('e')\n",
        "from tensorflow.python.tools import freeze_graph\nfreeze_graph.freeze_graph()\n",
        "from tensorflow.python.framework import graph_util as g\n"
        "g.convert_variables_to_constants(s, g, [])\n",
        "e = tf.estimator.Estimator(f)\ne.export_savedmodel('d', r)\n",
    ],
)
def test_an_export_is_told_once(text: str) -> None:
    assert outcomes(check_unchanged(HEAD + text, RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "tf.saved_model.loader.load(s, [], 'd')\n",
        "unknown.export_savedmodel('d')\n",
        "tf.train.Saver().save(s, 'd')\n",
        "tf.saved_model.simple_save(s, 'd', {}, {})\np['graph_run_mode'].i = 0\n",
    ],
)
def test_others_are_not_told(text: str) -> None:
    assert check_unchanged(HEAD + text, RULE) == []
