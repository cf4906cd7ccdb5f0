"""What projects import from `tensorflow.python` is known by its public name."""

from __future__ import annotations

import pytest

from tests.migrate.names_project import asked
from trainferry.migrate.library import canonical_name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("keras", "tf.keras"),
        ("keras.layers.Dropout", "tf.keras.layers.Dropout"),
        ("keras.layers.core.Dropout", "tf.keras.layers.Dropout"),
        ("keras.engine.training.Model", "tf.keras.models.Model"),
        ("keras.models.Model.fit", "tf.keras.models.Model.fit"),
        ("keras.utils.multi_gpu_utils.multi_gpu_model", "tf.keras.utils.multi_gpu_model"),
        ("ops.data_flow_ops.FIFOQueue", "tf.FIFOQueue"),
        ("ops.data_flow_ops.FIFOQueue.dequeue", "tf.FIFOQueue.dequeue"),
        ("ops.rnn_cell.LSTMCell", "tf.nn.rnn_cell.LSTMCell"),
        ("training.adam.AdamOptimizer", "tf.train.AdamOptimizer"),
    ],
)
def test_a_private_path_has_the_public_name(path: str, name: str) -> None:
    assert canonical_name(f"tensorflow.python.{path}") == name
    assert canonical_name(f"tensorflow_core.python.{path}") == name


@pytest.mark.parametrize(
    "path",
    [
        "keras.optimizers.Adam",  # tf.keras.optimizers.Adam is another class
        "keras.callbacks.TensorBoard",
        "keras.layers.no_such_module.Dropout",
        "client.device_lib.list_local_devices",
        "ops.data_flow_ops",
        "ops.data_flow_ops.StagingArea",
        "ops.lookup_ops.StaticHashTable",
    ],
)
def test_what_is_another_thing_or_has_no_public_name_keeps_its_path(path: str) -> None:
    assert canonical_name(f"tensorflow.python.{path}") == f"tensorflow.python.{path}"


def test_imports_of_private_modules_are_followed() -> None:
    text = "from tensorflow.python.keras import layers as L\nask(L.Dropout)"
    assert asked(text) == "tf.keras.layers.Dropout"


def test_a_module_of_the_project_is_not_tensorflows() -> None:
    assert canonical_name("python.keras.layers.Dropout") == "python.keras.layers.Dropout"
    assert canonical_name("mine.tensorflow.python.keras") == "mine.tensorflow.python.keras"


def test_googles_own_path_of_tensorflow_is_tensorflow() -> None:
    text = """\
    try:
        import google3
        from google3.third_party.tensorflow.python.estimator import estimator as estimator_lib
    except ImportError:
        from tensorflow.python.estimator import estimator as estimator_lib
    ask(estimator_lib.Estimator)
    """
    assert asked(text) == "tf.estimator.Estimator"
    assert canonical_name("google3.third_party.tensorflow") == "tf"
    assert canonical_name("google3.third_party.tensorflowery.X") != "tf.X"
