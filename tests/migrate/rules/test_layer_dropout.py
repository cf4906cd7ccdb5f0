"""Dropout layers get the NPU's operator by one import per file."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "layer_dropout"


def test_one_import_serves_all_layers_of_a_file() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf

        slim = tf.contrib.slim

        def net(x):
            x = slim.dropout(x, 0.8)
            x = tf.layers.dropout(x, 0.2)
            return tf.keras.layers.Dropout(0.2)(x)
        """,
        """\
        import tensorflow as tf
        from npu_bridge.estimator.npu import npu_convert_dropout

        slim = tf.contrib.slim

        def net(x):
            x = slim.dropout(x, 0.8)
            x = tf.layers.dropout(x, 0.2)
            return tf.keras.layers.Dropout(0.2)(x)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.CHECK]


@pytest.mark.parametrize(
    "text",
    [
        "from tensorflow.compat.v1 import layers\nd = layers.Dropout(0.5)\n",
        "from tensorflow.keras.layers import Dropout as D\nd = D(0.5)\n",
        "import tensorflow.contrib.layers as l\nwith scope([l.dropout]): pass\n",
    ],
)
def test_every_spelling_is_known(text: str) -> None:
    first, rest = text.split("\n", 1)
    line = "from npu_bridge.estimator.npu import npu_convert_dropout"
    check_migrated(text, f"{first}\n{line}\n{rest}", RULE)


def test_the_star_import_of_the_adapter_does_not_bring_it() -> None:
    check_migrated(
        "import tensorflow as tf\nfrom npu_bridge.npu_init import *\ntf.layers.dropout(x)\n",
        "import tensorflow as tf\nfrom npu_bridge.estimator.npu import npu_convert_dropout\n"
        "from npu_bridge.npu_init import *\ntf.layers.dropout(x)\n",
        RULE,
    )


def test_a_name_that_is_taken_is_left_to_the_user() -> None:
    told = check_unchanged(
        "import tensorflow as tf\nnpu_convert_dropout = 1\ntf.layers.dropout(x)\n", RULE
    )
    assert outcomes(told) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\ntf.keras.layers.SpatialDropout2D(0.5)\n",
        "import tensorflow as tf\ntf.nn.dropout(x, 0.5)\n",
        "from keras.layers import Dropout\nDropout(0.5)\n",
        "from mylib import tf\ntf.layers.dropout(x, 0.5)\n",
        "import unittest\nimport tensorflow as tf\ntf.layers.dropout(x, 0.5)\n",
    ],
)
def test_other_dropouts_are_left_alone(text: str) -> None:
    assert check_unchanged(text, RULE) == []
