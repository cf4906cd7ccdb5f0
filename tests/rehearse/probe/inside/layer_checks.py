"""What `import tensorflow as tf` is behind the import layer; each function is a check."""

from __future__ import annotations

import importlib
import os
import tempfile

import numpy as np
import tensorflow as tf


def tensorflow_says_it_is_1_15():
    assert tf.__version__ == tf.VERSION == "1.15.5"
    assert not tf.executing_eagerly()


def names_are_those_of_1_x():
    assert tf.Session is tf.compat.v1.Session
    assert tf.train.AdamOptimizer is tf.compat.v1.train.AdamOptimizer
    assert tf.losses.softmax_cross_entropy is tf.compat.v1.losses.softmax_cross_entropy
    assert tf.placeholder(tf.float32, [None, 3]).shape.as_list() == [None, 3]


def submodules_are_those_of_1_x():
    import tensorflow.keras.backend as keras_backend
    from tensorflow import train
    from tensorflow.compat.v1 import Session
    from tensorflow.distribute import MirroredStrategy
    from tensorflow.keras.layers import Dense
    from tensorflow.python.framework import ops

    assert train.AdamOptimizer is tf.train.AdamOptimizer
    assert MirroredStrategy is tf.distribute.MirroredStrategy
    assert Dense is tf.keras.layers.Dense
    assert Session is tf.Session
    assert keras_backend.get_session
    assert ops.Tensor is tf.Tensor


def version_1_stays_when_the_estimator_library_loads_keras_of_version_2():
    assert tf.estimator.DNNClassifier
    assert tf.estimator.BinaryClassHead()
    assert tf.losses.get_total_loss
    assert tf.keras.backend.get_session


def an_estimator_trains():
    def model(features, labels, mode):
        logits = tf.layers.dense(features["x"], 2)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)

    def data():
        pairs = ({"x": np.ones([8, 3], "f")}, np.zeros([8], "i"))
        return tf.data.Dataset.from_tensor_slices(pairs).repeat().batch(4)

    with tempfile.TemporaryDirectory() as folder:
        estimator = tf.estimator.Estimator(model, folder)
        estimator.train(data, steps=3)
        assert estimator.get_variable_value("global_step") == 3


def a_canned_estimator_trains():
    def data():
        pairs = ({"x": np.ones([8], "f")}, np.zeros([8], "i"))
        return tf.data.Dataset.from_tensor_slices(pairs).repeat().batch(4)

    with tempfile.TemporaryDirectory() as folder:
        columns = [tf.feature_column.numeric_column("x")]
        estimator = tf.estimator.DNNClassifier([4], columns, folder)
        estimator.train(data, steps=2)
        assert estimator.evaluate(data, steps=1)["global_step"] == 2


def a_keras_model_trains():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    history = model.fit(np.ones([8, 3]), np.ones([8, 2]), epochs=1, verbose=0)
    assert np.isfinite(history.history["loss"][0])


def a_dimension_may_be_a_whole_float():
    assert tf.Dimension(6 / 2).value == 3
    assert tf.zeros([2, 3]).shape.concatenate([4.0]).as_list() == [2, 3, 4]


def variables_are_not_resources():
    assert str(tf.get_variable("w", [2]).dtype) == "<dtype: 'float32_ref'>"


def names_inside_tensorflow_are_where_they_were():
    from tensorflow.python import pywrap_tensorflow
    from tensorflow.python.framework import ops, tensor_shape
    from tensorflow.python.ops import array_ops, control_flow_ops, variables
    from tensorflow.python.ops.variables import RefVariable
    from tensorflow.python.util import nest

    assert control_flow_ops.cond is tf.cond
    assert array_ops.stack is tf.stack
    assert variables.VariableV1 is tf.Variable
    assert RefVariable
    assert ops.IndexedSlices is tf.IndexedSlices
    assert nest.is_sequence([1])
    assert tensor_shape.scalar().as_list() == []
    assert pywrap_tensorflow.NewCheckpointReader is tf.train.NewCheckpointReader


def modules_inside_tensorflow_are_where_they_were():
    for name in (
        "tensorflow.python.training.tracking.base",
        "tensorflow.python.training.tracking.tracking",
        "tensorflow.python.distribute.distribution_strategy_context",
    ):
        importlib.import_module(name)


def modules_of_a_folder_that_moved_are_found():
    from tensorflow.python.training.tracking import base, tracking

    assert base.Trackable
    assert tracking.AutoTrackable


def normalization_layers_are_found():
    from tensorflow.python.layers import normalization

    assert normalization.BatchNormalization


def tensorflow_is_built_without_cuda():
    assert not tf.test.is_built_with_cuda()


def summaries_are_written():
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        tf.summary.scalar("loss", 1.0)
        writer = tf.summary.FileWriter(folder)
        writer.add_summary(session.run(tf.summary.merge_all()), 1)
        writer.close()
        assert any(os.scandir(folder))


def what_is_missing_from_contrib_is_named():
    def message(action):
        try:
            action()
        except (AttributeError, ImportError) as error:
            return type(error).__mro__, str(error)
        raise AssertionError("nothing was raised")

    kinds, text = message(lambda: tf.contrib.seq2seq)
    assert ImportError in kinds
    assert "`tf.contrib.seq2seq`" in text
    assert "TensorFlow 1.15 has all of `tf.contrib.seq2seq`" in text
    kinds, text = message(lambda: importlib.import_module("tensorflow.contrib.cudnn_rnn.python"))
    assert ImportError in kinds
    assert "NVIDIA" in text
    kinds, text = message(lambda: tf.contrib.rnn.NASCell)
    assert AttributeError in kinds
    assert "`tf.contrib.rnn.NASCell`" in text
    kinds, text = message(lambda: tf.contrib.estimator.stop_if_no_increase_hook)
    assert AttributeError in kinds
    assert "use `tf.estimator.experimental.stop_if_no_increase_hook`" in text
    assert tf.estimator.experimental.stop_if_no_increase_hook
    kinds, text = message(lambda: tf.contrib.never_was)
    assert AttributeError in kinds
    assert "1.15 neither" in text
    assert not hasattr(tf.contrib.rnn, "never_was")


def names_can_be_imported_from_parts_of_contrib():
    from tensorflow.contrib import rnn
    from tensorflow.contrib.opt.python.training.lars_optimizer import LARSOptimizer
    from tensorflow.contrib.rnn import LSTMCell
    from tensorflow.contrib.rnn.python.ops import rnn_cell

    assert LSTMCell is tf.nn.rnn_cell.LSTMCell is rnn.LSTMCell is rnn_cell.LSTMCell
    assert LARSOptimizer is tf.contrib.opt.LARSOptimizer
    try:
        from tensorflow.contrib.rnn import NASCell  # noqa: F401
    except ImportError as error:
        assert "NASCell" in str(error)


def settings_parse():
    settings = tf.contrib.training.HParams(rate=0.1, layers=[1, 2])
    assert settings.parse("rate=1,layers=[3,4]").values() == {"rate": 1.0, "layers": [3, 4]}
