"""The public names of what projects import from `tensorflow.python`, TensorFlow 1.15.

Only names that are the same object under both spellings are here: `tf.keras.optimizers.Adam`, for
one, is another class than `tensorflow.python.keras.optimizers.Adam`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from trainferry.migrate.keras_names import has_name, home_of

_NOT_THE_SAME = ("keras.optimizers", "keras.callbacks.TensorBoard", "keras.backend.name_scope")
_CELLS = """
    BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell LSTMStateTuple
    MultiRNNCell RNNCell ResidualWrapper
"""
_CTC = "ctc_beam_search_decoder ctc_greedy_decoder ctc_loss ctc_loss_v2"
_RNN = "bidirectional_dynamic_rnn dynamic_rnn raw_rnn static_rnn static_state_saving_rnn"
_RUNNERS = "QueueRunner add_queue_runner start_queue_runners"
_TABLES = """
    IdTableWithHashBuckets MutableHashTable index_table_from_file index_to_string_table_from_file
"""

# Modules below `tensorflow.python`, where their names are public, and these names.
_HOMES = (
    ("client.session", "tf", "InteractiveSession Session"),
    ("data.ops.dataset_ops", "tf.data", "Dataset"),
    ("data.ops.readers", "tf.data", "FixedLengthRecordDataset TFRecordDataset TextLineDataset"),
    ("estimator.estimator", "tf.estimator", "Estimator"),
    ("estimator.model_fn", "tf.estimator", "EstimatorSpec ModeKeys"),
    ("estimator.run_config", "tf.estimator", "RunConfig"),
    ("estimator.training", "tf.estimator", "EvalSpec TrainSpec train_and_evaluate"),
    ("framework.graph_util", "tf.graph_util", "convert_variables_to_constants extract_sub_graph"),
    ("framework.ops", "tf", "device enable_eager_execution"),
    ("ops.control_flow_ops", "tf", "Assert case cond group tuple while_loop"),
    ("ops.ctc_ops", "tf.nn", _CTC),
    (
        "ops.data_flow_ops",
        "tf",
        "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    ),
    ("ops.logging_ops", "tf", "Print"),
    ("ops.lookup_ops", "tf.contrib.lookup", _TABLES),
    ("ops.nn", "tf.nn", f"dropout max_pool {_CTC} {_RNN}"),
    ("ops.nn_ops", "tf.nn", "dropout max_pool"),
    ("ops.rnn", "tf.nn", f"{_RNN} static_bidirectional_rnn"),
    ("ops.rnn_cell", "tf.nn.rnn_cell", _CELLS),
    ("ops.rnn_cell_impl", "tf.nn.rnn_cell", _CELLS),
    ("ops.script_ops", "tf", "py_func"),
    ("platform.app", "tf.app", "run"),
    ("training.adadelta", "tf.train", "AdadeltaOptimizer"),
    ("training.adagrad", "tf.train", "AdagradOptimizer"),
    ("training.adam", "tf.train", "AdamOptimizer"),
    (
        "training.basic_session_run_hooks",
        "tf.train",
        "CheckpointSaverHook LoggingTensorHook NanTensorHook ProfilerHook StopAtStepHook",
    ),
    ("training.device_setter", "tf.train", "replica_device_setter"),
    ("training.ftrl", "tf.train", "FtrlOptimizer"),
    ("training.gradient_descent", "tf.train", "GradientDescentOptimizer"),
    (
        "training.input",
        "tf.train",
        """batch batch_join input_producer range_input_producer shuffle_batch shuffle_batch_join
        slice_input_producer string_input_producer""",
    ),
    ("training.momentum", "tf.train", "MomentumOptimizer"),
    (
        "training.monitored_session",
        "tf.train",
        """ChiefSessionCreator MonitoredSession MonitoredTrainingSession SingularMonitoredSession
        WorkerSessionCreator""",
    ),
    ("training.optimizer", "tf.train", "Optimizer"),
    ("training.queue_runner", "tf.train", _RUNNERS),
    ("training.queue_runner_impl", "tf.train", _RUNNERS),
    ("training.rmsprop", "tf.train", "RMSPropOptimizer"),
    ("training.session_manager", "tf.train", "SessionManager"),
    ("training.supervisor", "tf.train", "Supervisor"),
    ("training.sync_replicas_optimizer", "tf.train", "SyncReplicasOptimizer"),
)


def public_name(path: str) -> str | None:
    """The public name of a path below `tensorflow.python`; None for what is private."""
    if path == "keras" or path.startswith("keras."):
        return _public_keras(path)
    parts = path.split(".")
    for end in range(len(parts), 1, -1):
        if found := _public_names().get(".".join(parts[:end])):
            return ".".join((found, *parts[end:]))
    return None


def _public_keras(path: str) -> str | None:
    if any(f"{path}.".startswith(f"{one}.") for one in _NOT_THE_SAME):
        return None
    if has_name(f"tf.{path}"):
        return f"tf.{path}"
    parts = path.split(".")
    for end in range(len(parts) - 1, 1, -1):
        if home := home_of(".".join(parts[:end]), parts[end : end + 1]):
            return ".".join((home, *parts[end:]))
    return None


@functools.cache
def _public_names() -> Mapping[str, str]:
    return {
        f"{module}.{name}": f"{home}.{name}"
        for module, home, names in _HOMES
        for name in names.split()
    }
