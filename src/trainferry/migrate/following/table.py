"""The classes whose values can be followed, and which calls, methods and attributes give them."""

from __future__ import annotations

import functools
import re

_DATASET = "tf.data.Dataset"
_ITERATOR = "tf.data.Iterator"
_SESSION = "tf.Session"
_MONITORED = "tf.train.MonitoredSession"
_CONFIG = "tf.ConfigProto"
_GRAPH = "tf.Graph"
_OPTIMIZER = "tf.train.Optimizer"
_ESTIMATOR = "tf.estimator.Estimator"
_RUN_CONFIG = "tf.estimator.RunConfig"
_STRATEGY = "tf.distribute.Strategy"
_SUPERVISOR = "tf.train.Supervisor"
_WRITER = "tf.summary.FileWriter"
_COORDINATOR = "tf.train.Coordinator"
_REWRITER = "tensorflow.core.protobuf.rewriter_config_pb2.RewriterConfig"
_TEST = "tf.test.TestCase"
_HOOK = "tf.train.SessionRunHook"
_RUN_CONTEXT = "tf.train.SessionRunContext"
_KERAS = ("tf.keras", "keras")

# Full names of functions and classes, without their last part: what calling them gives.
_CALLS: dict[str, dict[str, str]] = {
    _DATASET: {
        "tf.data": "Dataset FixedLengthRecordDataset TFRecordDataset TextLineDataset",
        "tf.data.Dataset": "from_generator from_sparse_tensor_slices from_tensor_slices"
        " from_tensors list_files range zip",
        "tf.data.experimental": "Counter CsvDataset RandomDataset SqlDataset choose_from_datasets"
        " from_variant make_batched_features_dataset make_csv_dataset sample_from_datasets",
        "tf.contrib.data": "Counter CsvDataset Dataset FixedLengthRecordDataset LMDBDataset"
        " RandomDataset SqlDataset TFRecordDataset TextLineDataset choose_from_datasets"
        " make_batched_features_dataset make_csv_dataset read_batch_features"
        " sample_from_datasets",
        "tf.contrib.data.Dataset": "from_generator from_sparse_tensor_slices from_tensor_slices"
        " from_tensors list_files range zip",
        "tf.contrib.tpu": "StreamingFilesDataset",
    },
    _ITERATOR: {
        "tf.data": "Iterator make_initializable_iterator make_one_shot_iterator",
        "tf.data.Iterator": "from_string_handle from_structure",
        "tf.contrib.data": "Iterator",
        "tf.contrib.data.Iterator": "from_string_handle from_structure",
    },
    _SESSION: {
        "tf": "InteractiveSession Session get_default_session",
        "tf.keras.backend": "get_session",
        "keras.backend": "get_session",
        "keras.backend.tensorflow_backend": "get_session",
    },
    _MONITORED: {
        "tf.train": "MonitoredSession MonitoredTrainingSession SingularMonitoredSession",
    },
    _CONFIG: {
        "tf": "ConfigProto",
    },
    "tf.GPUOptions": {
        "tf": "GPUOptions",
    },
    "tf.GraphOptions": {
        "tf": "GraphOptions",
    },
    "tf.OptimizerOptions": {
        "tf": "OptimizerOptions",
    },
    _REWRITER: {
        "tensorflow.core.protobuf.rewriter_config_pb2": "RewriterConfig",
    },
    _GRAPH: {
        "tf": "Graph get_default_graph",
        "tf.keras.backend": "get_graph",
    },
    "tf.train.Saver": {"tf.train": "Saver import_meta_graph"},
    _SUPERVISOR: {"tf.train": "Supervisor"},
    "tf.train.Scaffold": {"tf.train": "Scaffold"},
    _COORDINATOR: {"tf.train": "Coordinator"},
    _WRITER: {"tf.summary": "FileWriter", "tf.train": "SummaryWriter"},
    _ESTIMATOR: {
        "tf.estimator.tpu": "TPUEstimator",
        "tf.contrib.tpu": "TPUEstimator",
        "tf.keras.estimator": "model_to_estimator",
        "tf.contrib.learn": "KMeansClustering SVM",
        "tf.contrib.factorization": "GMM KMeansClustering WALSMatrixFactorization",
    },
    _RUN_CONFIG: {
        "tf.estimator": "RunConfig",
        "tf.estimator.tpu": "RunConfig",
        "tf.contrib.tpu": "RunConfig",
        "tf.contrib.learn": "RunConfig",
    },
    "tf.estimator.TrainSpec": {"tf.estimator": "TrainSpec"},
    "tf.estimator.EvalSpec": {"tf.estimator": "EvalSpec"},
    "tf.estimator.EstimatorSpec": {
        "tf.estimator": "EstimatorSpec",
        "tf.contrib.tpu": "TPUEstimatorSpec",
        "tf.estimator.tpu": "TPUEstimatorSpec",
    },
    _STRATEGY: {
        "tf.distribute": "Strategy get_strategy MirroredStrategy OneDeviceStrategy"
        " MultiWorkerMirroredStrategy TPUStrategy",
        "tf.distribute.experimental": "CentralStorageStrategy MultiWorkerMirroredStrategy"
        " ParameterServerStrategy TPUStrategy",
        "tf.contrib.distribute": "CollectiveAllReduceStrategy DistributionStrategy"
        " MirroredStrategy OneDeviceStrategy ParameterServerStrategy TPUStrategy"
        " get_distribution_strategy",
    },
    _HOOK: {"tf.train": "SessionRunHook"},
    _RUN_CONTEXT: {"tf.train": "SessionRunContext"},
    _TEST: {"tf.test": "TestCase"},
    _OPTIMIZER: {
        "tf.tpu": "CrossShardOptimizer",
        "tf.contrib.tpu": "CrossShardOptimizer",
    },
    **{
        f"{keras}.Model": {
            f"{keras}": "Model Sequential",
            f"{keras}.models": "Model Sequential clone_model load_model model_from_config"
            " model_from_json model_from_yaml",
            f"{keras}.engine.training": "Model",
            f"{keras}.engine": "Model",
            f"{keras}.engine.sequential": "Sequential",
            f"{keras}.utils": "multi_gpu_model",
            f"{keras}.experimental": "LinearModel WideDeepModel load_from_saved_model",
        }
        for keras in _KERAS
    },
    **{
        f"{keras}.optimizers.Optimizer": {
            f"{keras}.optimizers": "Adadelta Adagrad Adam Adamax Ftrl Nadam Optimizer RMSprop SGD"
            " TFOptimizer deserialize get",
        }
        for keras in _KERAS
    },
}

# Names that follow a pattern.
_PATTERNS = (
    (r"tf\.train\.\w*Optimizer", _OPTIMIZER),
    (r"tf\.contrib\.opt\.\w*Optimizer\w*", _OPTIMIZER),
    (r"tf\.contrib\.(optimizer_v2|kfac\.optimizer)\.\w*Optimizer", _OPTIMIZER),
    (r"tf\.estimator\.(experimental\.)?\w*(Estimator|Classifier|Regressor)", _ESTIMATOR),
    (r"tf\.contrib\.(estimator|learn)\.\w*(Estimator|Classifier|Regressor)", _ESTIMATOR),
    (r"tf\.contrib\.estimator\.boosted_trees_\w+_train_in_memory", _ESTIMATOR),
    (r"tf\.contrib\.gan\.estimator\.\w+Estimator", _ESTIMATOR),
    (r"npu_bridge\.(\w+\.)*NPUEstimator(V2)?", _ESTIMATOR),
    (r"npu_bridge\.(\w+\.)*(NPURunConfig|npu_run_config_init)", _RUN_CONFIG),
    (r"npu_bridge\.(\w+\.)*npu_config_proto", _CONFIG),
    (r"npu_bridge\.(\w+\.)*npu_graph_options", "tf.GraphOptions"),
    (r"npu_bridge\.(\w+\.)*npu_optimizer_options", "tf.OptimizerOptions"),
    (r"npu_bridge\.(\w+\.)*RewriterConfig", _REWRITER),
    (r"(npu_bridge|npu_device)\.(\w+\.)*NPUStrategy", _STRATEGY),
    (r"npu_bridge\.(\w+\.)*NPU\w*Optimizer", _OPTIMIZER),
    (r"tf\.keras\.applications\.(\w+\.)?[A-Z]\w+", "tf.keras.Model"),
    (r"keras\.applications\.(\w+\.)?[A-Z]\w+", "keras.Model"),
    (r"tensorflow\.python\.data\.(\w+\.)*\w+Dataset(V1|V2)?", _DATASET),
)

# Functions that give back what they are given, or the same kind of thing around it.
_PASSING = frozenset(
    (
        "contextlib.closing",
        "copy.copy",
        "copy.deepcopy",
        "horovod.tensorflow.DistributedOptimizer",
        "horovod.tensorflow.keras.DistributedOptimizer",
        "horovod.keras.DistributedOptimizer",
        "tf.contrib.estimator.TowerOptimizer",
        "tf.contrib.estimator.clip_gradients_by_norm",
        "tf.contrib.estimator.replicate_model_fn",
        "tf.data.experimental.copy_to_device",
        "tf.train.experimental.enable_mixed_precision_graph_rewrite",
        "tf.keras.utils.multi_gpu_model",
        "keras.utils.multi_gpu_model",
    )
)
_PASSING_PATTERN = re.compile(
    r"npu_bridge\.(\w+\.)*("
    r"npu_tf_optimizer|npu_keras_optimizer|npu_distributed_optimizer_wrapper"
    r"|KerasDistributeOptimizer)"
)

_METHODS: dict[str, dict[str, str]] = {
    _DATASET: {
        _DATASET: "apply batch cache concatenate enumerate filter filter_with_legacy_function"
        " flat_map from_generator from_sparse_tensor_slices from_tensor_slices from_tensors"
        " interleave list_files map map_with_legacy_function padded_batch prefetch range repeat"
        " shard shuffle skip take unbatch window with_options zip dense_to_sparse_batch"
        " group_by_window make_batched_features_dataset",
        _ITERATOR: "make_initializable_iterator make_one_shot_iterator",
    },
    _SESSION: {_SESSION: "as_default __enter__"},
    _MONITORED: {_MONITORED: "__enter__", _SESSION: "raw_session _tf_sess"},
    _GRAPH: {_GRAPH: "as_default __enter__"},
    _SUPERVISOR: {
        _SESSION: "PrepareSession managed_session prepare_or_wait_for_session",
    },
    _STRATEGY: {
        _DATASET: "experimental_distribute_dataset"
        " experimental_distribute_datasets_from_function experimental_make_numpy_dataset",
        _ITERATOR: "make_dataset_iterator make_input_fn_iterator",
        _CONFIG: "update_config_proto",
    },
    _TEST: {_SESSION: "cached_session session test_session"},
    _RUN_CONFIG: {_RUN_CONFIG: "replace"},
    _WRITER: {_WRITER: "__enter__"},
    "tf.estimator.EstimatorSpec": {
        "tf.estimator.EstimatorSpec": "_replace as_estimator_spec",
    },
}

_ATTRIBUTES: dict[str, dict[str, str]] = {
    _SESSION: {_GRAPH: "graph"},
    _MONITORED: {_GRAPH: "graph"},
    _RUN_CONTEXT: {_SESSION: "session"},
    _CONFIG: {"tf.GPUOptions": "gpu_options", "tf.GraphOptions": "graph_options"},
    "tf.GraphOptions": {"tf.OptimizerOptions": "optimizer_options", _REWRITER: "rewrite_options"},
    _RUN_CONFIG: {_CONFIG: "session_config tf_config", _STRATEGY: "train_distribute"},
    _ESTIMATOR: {_RUN_CONFIG: "config"},
    _SUPERVISOR: {
        "tf.train.Saver": "saver",
        _COORDINATOR: "coord",
        _WRITER: "summary_writer",
    },
    "tf.train.Scaffold": {"tf.train.Saver": "saver"},
    "tf.keras.Model": {"tf.keras.optimizers.Optimizer": "optimizer"},
    "keras.Model": {"keras.optimizers.Optimizer": "optimizer"},
}

_INSIDE = tuple(
    (re.compile(form), public)
    for form, public in (
        (r"tensorflow\.python\.keras\.(.+)", "tf.keras"),
        (r"tensorflow\.python\.data\.ops\.(?:dataset_ops|readers|iterator_ops)\.(.+)", "tf.data"),
        (r"tensorflow\.python\.(?:client\.session|framework\.ops)\.(.+)", "tf"),
        (r"tensorflow\.core\.protobuf\.config_pb2\.(.+)", "tf"),
        (r"tensorflow\.python\.training\.\w+\.(\w+)", "tf.train"),
        (r"tensorflow\.python\.summary\.writer\.writer\.(\w+)", "tf.summary"),
        (r"tensorflow\.python\.distribute\.\w+\.(\w+)", "tf.distribute"),
        (r"tensorflow(?:_estimator)?\.python\.estimator\.(?:[a-z]\w*\.)*(\w+)", "tf.estimator"),
        (r"tensorflow\.python\.(?:platform\.(?:test|googletest))\.(TestCase)", "tf.test"),
        (r"tensorflow\.python\.framework\.test_util\.TensorFlow(TestCase)", "tf.test"),
    )
)

_BY_CALL = {
    f"{module}.{name}": family
    for family, modules in _CALLS.items()
    for module, names in modules.items()
    for name in names.split()
}
_BY_PATTERN = tuple((re.compile(pattern), family) for pattern, family in _PATTERNS)


def _members(table: dict[str, dict[str, str]]) -> dict[tuple[str, str], str]:
    return {
        (family, name): result
        for family, results in table.items()
        for result, names in results.items()
        for name in names.split()
    }


# What TensorFlow gives to methods that classes of the project have for it, and to functions that
# it is handed; by the name of the parameter's place.
_METHOD_PARAMETERS = {
    (_HOOK, "after_create_session", 1): _SESSION,
    (_HOOK, "after_create_session", 2): _COORDINATOR,
    (_HOOK, "before_run", 1): _RUN_CONTEXT,
    (_HOOK, "after_run", 1): _RUN_CONTEXT,
    (_HOOK, "end", 1): _SESSION,
}

_BY_METHOD = _members(_METHODS)
_BY_ATTRIBUTE = _members(_ATTRIBUTES)

CLASSES: frozenset[str] = frozenset((*_CALLS, *(family for _, family in _PATTERNS)))


@functools.cache
def class_of_call(name: str) -> str | None:
    """The class of what a library's function or class gives when it is called."""
    name = _public(name)
    if name in _BY_CALL:
        return _BY_CALL[name]
    return next((family for form, family in _BY_PATTERN if form.fullmatch(name)), None)


@functools.cache
def is_passing(name: str) -> bool:
    """Whether a function gives the class of its first argument."""
    return name in _PASSING or _PASSING_PATTERN.fullmatch(name) is not None


def class_of_method(family: str, method: str) -> str | None:
    """The class of what a method gives."""
    return _BY_METHOD.get((family, method))


def class_of_attribute(family: str, attribute: str) -> str | None:
    return _BY_ATTRIBUTE.get((family, attribute))


def class_of_parameter(family: str, method: str, position: int) -> str | None:
    """The class of what TensorFlow gives to a method that overrides its own."""
    return _METHOD_PARAMETERS.get((family, method, position))


def _public(name: str) -> str:
    """The public name of what was imported from where TensorFlow has it inside."""
    for form, public in _INSIDE:
        found = form.fullmatch(name)
        if found:
            return f"{public}.{found[1]}"
    return name
