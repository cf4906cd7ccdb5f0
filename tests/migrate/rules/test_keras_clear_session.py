"""After Keras starts afresh it is on the NPU still."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "keras_clear_session"
NEW = "from npu_bridge.npu_init import npu_clear_session\nnpu_clear_session(config=None)\n"


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("import tensorflow as tf", "tf.keras.backend.clear_session()"),
        ("from tensorflow.compat.v1.keras import backend as K", "K.clear_session()"),
        ("from tensorflow.keras.backend import clear_session as clear", "clear()"),
        ("from tensorflow.python.keras import backend as K", "K.clear_session()"),
    ],
)
def test_it_is_called_on_the_npu(head: str, call: str) -> None:
    told = check_migrated(f"{head}\n{call}\n", f"{head}\n{NEW}", RULE)
    assert outcomes(told) == [Outcome.CHANGED]


def test_a_module_in_a_variable_counts() -> None:
    check_migrated(
        "import tensorflow as tf\nK = tf.keras.backend\nK.clear_session()\n",
        "import tensorflow as tf\nfrom npu_bridge.npu_init import npu_clear_session\n"
        "K = tf.keras.backend\nnpu_clear_session(config=None)\n",
        RULE,
    )


def test_one_that_is_handed_on_is_told() -> None:
    told = check_unchanged("import tensorflow as tf\nf(tf.keras.backend.clear_session)\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "import web\nweb.clear_session()\n",
        "import tensorflow as tf\nself.clear_session()\n",
        "import keras.backend as K\nK.clear_session()\n",
        "import tensorflow as tf\ntf.enable_eager_execution()\ntf.keras.backend.clear_session()\n",
        "import tensorflow as tf\nclass NetTest(tf.test.TestCase):\n"
        "    def setUp(self):\n        tf.keras.backend.clear_session()\n",
        "import tensorflow as tf\nm = tf.keras.Sequential()\n"
        "tf.keras.estimator.model_to_estimator(m).train(f)\ntf.keras.backend.clear_session()\n",
        "from npu_bridge.npu_init import *\nnpu_clear_session()\n",
    ],
)
def test_others_are_not_ours(text: str) -> None:
    assert check_unchanged(text, RULE) == []


def test_a_patching_adapter_needs_nothing() -> None:
    text = "import tensorflow as tf\ntf.keras.backend.clear_session()\n"
    assert check_unchanged(text, RULE, Options(adapter="patched")) == []
