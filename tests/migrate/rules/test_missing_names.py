"""Names that TensorFlow 1.15 does not have are told, with the new ones."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, findings, migrate, outcomes
from trainferry.migrate.rule import Outcome

RULE = "missing_names"
START = "import tensorflow as tf\n"
_AUTOTUNE = "tf.data.experimental.AUTOTUNE"


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (
            "hook = tf.contrib.estimator.stop_if_no_decrease_hook(e, 'loss', 9)",
            "tf.contrib.estimator.stop_if_no_decrease_hook",
            "tf.estimator.experimental.stop_if_no_decrease_hook",
        ),
        ("x = tf.mul(a, b)", "tf.mul", "tf.multiply"),
        ("x = tf.nn.seq2seq.sequence_loss(a)", "tf.nn.seq2seq", "tf.contrib.legacy_seq2seq"),
        ("make = tf.contrib.lite.TFLiteConverter", "tf.contrib.lite", "tf.lite"),
        (
            "table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)",
            "tf.lookup.experimental.MutableHashTable",
            "tf.contrib.lookup.MutableHashTable",
        ),
        ("data = data.prefetch(tf.data.AUTOTUNE)", "tf.data.AUTOTUNE", _AUTOTUNE),
        ("data = tf.compat.v1.data.AUTOTUNE", "tf.data.AUTOTUNE", _AUTOTUNE),
        ("weigh = tf.regularizers.l2(0.1)", "tf.regularizers", "tf.keras.regularizers"),
    ],
)
def test_the_new_name_is_told(text: str, old: str, new: str) -> None:
    (told,) = check_unchanged(f"{START}{text}\n", RULE)
    assert told.outcome is Outcome.BY_HAND
    assert told.message == f"TensorFlow 1.15 has no `{old}`: it is `{new}` there"


@pytest.mark.parametrize(
    "text",
    [
        "x = tf.image.roi_pooling(a, b)",
        "x = tf.compat.v1.image.roi_pooling(a, b)",
        "x = tf.contrib.gan.gan_model(f, g, a, b)",
        "x = tf.keras.layers.MultiHeadAttention(2, 3)",
    ],
)
def test_names_without_a_known_move_are_told(text: str) -> None:
    (told,) = check_unchanged(f"{START}{text}\n", RULE)
    assert told.message.endswith("write this with what 1.15 has")


def test_an_import_is_told_and_not_its_uses() -> None:
    told = check_unchanged(
        """\
        from tensorflow.contrib import gan as tfgan
        from tensorflow.contrib.estimator import stop_if_lower_hook

        model = tfgan.gan_model(f, g, a, b)
        hook = stop_if_lower_hook(e, "loss", 0.1)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND] * 2
    assert "tf.contrib.gan`" in told[0].message
    assert "tf.estimator.experimental.stop_if_lower_hook" in told[1].message


def test_a_variable_is_told_where_it_gets_the_name() -> None:
    (told,) = check_unchanged(f"{START}mul = tf.mul\nx = mul(a, b)\n", RULE)
    assert told.start == len(START) + len("mul = ")


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    mul = tf.multiply\nexcept AttributeError:\n    mul = tf.mul",
        "try:\n    from tensorflow import mul\nexcept (ImportError, KeyError):\n    mul = None",
        "try:\n    import tensorflow.contrib.gan\nexcept:\n    pass",
        "mul = tf.mul if hasattr(tf, 'mul') else tf.multiply",
        "if tf.__version__ < '1.0':\n    mul = tf.mul",
        "if IS_TF2:\n    x = tf.data.experimental.service.WorkerServer(a)",
        "is_new = is_tfv2() and isinstance(a, tf.optimizers.Optimizer)",
        "def mul(a):\n    if hasattr(tf, 'multiply'):\n        return 1\n    return tf.mul(a, a)",
        "is_old = hasattr(tf, 'mul') and tf.mul(a, b)",
    ],
)
def test_names_that_the_project_asks_for_first_are_not_told(text: str) -> None:
    assert check_unchanged(f"{START}{text}\n", RULE) == []


def test_another_exception_is_no_guard() -> None:
    text = "try:\n    x = tf.mul(a, b)\nexcept ValueError:\n    raise\n"
    assert outcomes(check_unchanged(START + text, RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "x = tf.multiply(a, b)",
        "x = tf.contrib.layers.python.layers.utils.smart_cond(a, b, c)",
        "x = tf.contrib.slim.nets.vgg.vgg_16(a)",
        "x = tf.contrib.tensorrt.create_inference_graph(a)",
        "x = tf.train.Saver.unheard_of(a)",
        "x = tf._private(a)",
        "x = tf.compat.v2.anything(a)",
        "x = tf.app.flags.FLAGS.mul(a)",
        "from tensorflow.contrib.layers.python.layers import utils\nx = utils.anything(a)",
        "from tensorflow.examples.tutorials.mnist import input_data",
        "from tensorflow.contrib.slim import *",
    ],
)
def test_names_that_are_there_or_not_known_are_not_told(text: str) -> None:
    assert check_unchanged(f"{START}{text}\n", RULE) == []


def test_names_that_the_project_sets_are_not_told() -> None:
    files = {"patch.py": f"{START}tf.mul = tf.multiply\n", "net.py": f"{START}x = tf.mul(a, b)\n"}
    assert findings(migrate(files, RULE)) == []


def test_unit_tests_are_not_told() -> None:
    assert check_unchanged(f"import pytest\n{START}x = tf.mul(a, b)\n", RULE) == []


def test_another_library_is_not_ours() -> None:
    assert check_unchanged("from mylib import tf\nx = tf.mul(a, b)\n", RULE) == []


def test_a_module_of_the_project_is_not_ours() -> None:
    files = {
        "tensorflow.py": "mul = 1\n",
        "net.py": "from tensorflow import mul\nimport tensorflow as tf\nx = tf.mul\n",
    }
    assert findings(migrate(files, RULE)) == []


def test_names_of_the_adapter_are_told_by_their_own_rule() -> None:
    assert check_unchanged(f"{START}x = tf.estimator.NPURunConfig()\n", RULE) == []
