"""Keras comes from TensorFlow, where TensorFlow has what the file needs."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import (
    check_migrated,
    check_project,
    check_unchanged,
    findings,
    migrate,
    outcomes,
)
from trainferry.migrate.rule import Outcome

RULE = "standalone_keras"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import keras", "from tensorflow import keras"),
        ("import keras as k", "from tensorflow import keras as k"),
        ("import keras.layers", "from tensorflow import keras"),
        ("import keras.backend as K", "from tensorflow.keras import backend as K"),
        ("import keras.layers as layers", "from tensorflow.keras import layers"),
        ("from keras import backend as K", "from tensorflow.keras import backend as K"),
        ("from keras import Input, Model", "from tensorflow.keras import Input, Model"),
        ("from keras.models import Sequential", "from tensorflow.keras.models import Sequential"),
        (
            "from keras.layers.core import Dense,  Dropout  # two",
            "from tensorflow.keras.layers import Dense,  Dropout  # two",
        ),
        (
            "from keras.layers.normalization import BatchNormalization as BN",
            "from tensorflow.keras.layers import BatchNormalization as BN",
        ),
        (
            "from keras.utils import np_utils\nnp_utils.to_categorical(y)",
            "from tensorflow.keras import utils as np_utils\nnp_utils.to_categorical(y)",
        ),
        ("from keras.utils import np_utils\nnp_utils.probas_to_classes(y)", None),
        ("from keras.utils import np_utils, plot_model", None),
        (
            "from keras.utils.np_utils import to_categorical",
            "from tensorflow.keras.utils import to_categorical",
        ),
        (
            "from keras.backend.tensorflow_backend import set_session",
            "from tensorflow.keras.backend import set_session",
        ),
        (
            "import keras.backend.tensorflow_backend as KTF",
            "from tensorflow.keras import backend as KTF",
        ),
        (
            "from keras.engine import Layer, InputSpec",
            "from tensorflow.keras.layers import Layer, InputSpec",
        ),
        ("from keras.engine.topology import Layer", "from tensorflow.keras.layers import Layer"),
        ("from keras.engine.training import Model", "from tensorflow.keras.models import Model"),
        ("from keras.engine import Layer, Model", None),
        ("from keras.engine.topology import get_source_inputs", None),
        ("from keras.legacy import interfaces", None),
        ("from keras.layers import Dense, MaxoutDense", None),
        ("from keras.layers import *", None),
        ("import keras, os", None),
        ("import keras.legacy.layers as old", None),
    ],
)
def test_imports(before: str, after: str | None) -> None:
    if after is None:
        assert outcomes(check_unchanged(f"{before}\n", RULE)) == [Outcome.BY_HAND]
    else:
        assert outcomes(check_migrated(f"{before}\n", f"{after}\n", RULE)) == [Outcome.CHECK]


def test_an_import_over_several_lines_keeps_its_lines() -> None:
    check_migrated(
        """\
        def net():
            from keras.layers import (Dense,  # last
                                      Conv2D)
            return Dense
        """,
        """\
        def net():
            from tensorflow.keras.layers import (Dense,  # last
                                      Conv2D)
            return Dense
        """,
        RULE,
    )


def test_what_is_taken_from_the_module_must_be_there() -> None:
    told = check_unchanged("from keras import backend as K\nK.image_dim_ordering()\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "`keras.backend.image_dim_ordering`" in told[0].message
    told = check_unchanged("import keras\nkeras.backend.tensorflow_backend.set_session(s)\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_what_a_class_has_is_not_looked_for() -> None:
    check_migrated(
        "import keras\nkeras.layers.Dense.from_config(keras.__version__)\n",
        "from tensorflow import keras\nkeras.layers.Dense.from_config(keras.__version__)\n",
        RULE,
    )


def test_missing_names_are_told() -> None:
    (told,) = check_unchanged("from keras.layers import Dense, MaxoutDense\n", RULE)
    assert told.message == (
        "`tf.keras` has no `MaxoutDense`; import the rest from `tensorflow.keras.layers`"
    )


def test_a_second_choice_for_those_without_tensorflow_stays() -> None:
    text = """\
        try:
            from tensorflow.keras.layers import Dense
        except ImportError:
            from keras.layers import Dense
        """
    assert check_unchanged(text, RULE) == []


def test_a_first_choice_of_keras_is_told() -> None:
    text = """\
        try:
            import keras
        except ImportError:
            from tensorflow import keras
        """
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (
            "keras.engine import saving",
            "keras.engine import topology as saving",
            "`from tensorflow.python.keras.saving import hdf5_format as saving`",
        ),
        (
            "keras.engine import Layer",
            "keras.engine.topology import Layer",
            "import once, from `tensorflow.keras.layers`",
        ),
        (
            "keras.engine.network import Network",
            "keras.engine.topology import Container as Network",
            "`tf.keras` has no `Network`",
        ),
    ],
)
def test_imports_for_several_versions_of_keras_are_told(first: str, second: str, text: str) -> None:
    program = f"try:\n    from {first}\nexcept ImportError:\n    from {second}\n"
    (told,) = check_unchanged(program, RULE)
    assert told.outcome is Outcome.BY_HAND
    assert told.message.endswith(text)


def test_a_try_around_keras_alone_is_migrated() -> None:
    check_migrated(
        "try:\n    import keras\nexcept ImportError:\n    keras = None\n",
        "try:\n    from tensorflow import keras\nexcept ImportError:\n    keras = None\n",
        RULE,
    )


def test_packages_on_standalone_keras_are_told() -> None:
    (told,) = check_unchanged("from keras_contrib.layers import CRF\n", RULE)
    assert told.outcome is Outcome.BY_HAND
    assert "`keras_contrib`" in told.message


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow.keras\n",
        "from tensorflow import keras\n",
        "from .keras import layers\n",
        "from . import keras\n",
        "import keras_preprocessing\n",
        "import kerasify\n",
        "from mykeras.keras import x\n",
    ],
)
def test_other_imports_are_not_ours(text: str) -> None:
    assert check_unchanged(text, RULE) == []


def test_a_module_of_the_project_called_keras_is_not_ours() -> None:
    files = {"program.py": "from keras import net\nimport keras_tools\n", "keras/__init__.py": ""}
    files |= {"keras/net.py": "", "keras_tools.py": ""}
    assert check_project(files, {}, RULE) == []


def test_a_notebook_is_migrated() -> None:
    cell = '{"cell_type": "code", "metadata": {}, "outputs": [], "source": ["import keras"]}'
    book = f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 2}}'
    result = migrate({"net.ipynb": book}, RULE)
    assert outcomes(findings(result)) == [Outcome.CHECK]
    (after,) = result.after.values()
    assert b'"from tensorflow import keras"' in after.file


@pytest.mark.parametrize("imported", ["from tensorflow import keras", "import tensorflow as tf"])
def test_tensors_of_metrics_are_told(imported: str) -> None:
    use = "keras.Model(a, b)" if "keras" in imported else "tf.keras.Model(a, b)"
    text = f"{imported}\nnet = {use}\nnet.metrics_tensors.append(loss)\n"
    (told,) = check_unchanged(text, RULE)
    assert told.outcome is Outcome.BY_HAND
    assert '`net.add_metric(tensor, name=name, aggregation="mean")`' in told.message


def test_tensors_of_metrics_of_others_are_not_ours() -> None:
    assert check_unchanged("import mine\nmine.net().metrics_tensors.append(loss)\n", RULE) == []
    text = "import tensorflow as tf\ndef f(self):\n    self.metrics_tensors = tf.no_op()\n"
    assert check_unchanged(text, RULE) == []
