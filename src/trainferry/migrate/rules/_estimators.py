"""What makes an Estimator, where its configuration stands, and whether that is the NPU's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call, wrap
from trainferry.migrate.rules._configs import assigned_values
from trainferry.migrate.rules._host_sessions import is_kept_off_accelerators
from trainferry.migrate.rules._npu import called, is_distributed, npu_name

WRAPPER = "npu_run_config_init"
WRAPPER_IMPORT = "from npu_bridge.npu_init import npu_run_config_init"
STAYS_ON_HOST = (
    'this Estimator stays on the host, because `device_count={"GPU": 0}` kept it off the GPU; for '
    f"the NPU write `config={WRAPPER}(run_config=…)`"
)

# The place of `config` among the arguments, TensorFlow 1.15.5.
_IN_ESTIMATOR = {
    "BaselineClassifier": 5,
    "BaselineEstimator": 3,
    "BaselineRegressor": 4,
    "BoostedTreesClassifier": 13,
    "BoostedTreesEstimator": 12,
    "BoostedTreesRegressor": 12,
    "DNNClassifier": 10,
    "DNNEstimator": 8,
    "DNNLinearCombinedClassifier": 12,
    "DNNLinearCombinedEstimator": 10,
    "DNNLinearCombinedRegressor": 11,
    "DNNRegressor": 9,
    "Estimator": 2,
    "LinearClassifier": 6,
    "LinearEstimator": 4,
    "LinearRegressor": 5,
    "experimental.KMeans": 9,
}
_UNKNOWN = 99  # not in 1.15, and in another place in each release before
_IN_CONTRIB = {
    "estimator.DNNClassifierWithLayerAnnotations": 10,
    "estimator.DNNEstimator": 8,
    "estimator.DNNLinearCombinedEstimator": 10,
    "estimator.DNNRegressorWithLayerAnnotations": 9,
    "estimator.LinearEstimator": 4,
    "estimator.RNNClassifier": 12,
    "estimator.RNNEstimator": 10,
    "estimator.boosted_trees_classifier_train_in_memory": 13,
    "estimator.boosted_trees_regressor_train_in_memory": 12,
    "factorization.GMM": 6,
    "factorization.KMeansClustering": 9,
    "factorization.WALSMatrixFactorization": 15,
    "gan.estimator.GANEstimator": _UNKNOWN,
    "gan.estimator.StarGANEstimator": _UNKNOWN,
    "kernel_methods.KernelLinearClassifier": 6,
    "tensor_forest.client.random_forest.CoreTensorForestEstimator": 5,
    "tensor_forest.client.random_forest.TensorForestEstimator": 5,
    "timeseries.ARRegressor": 12,
    "timeseries.StructuralEnsembleRegressor": 11,
    "timeseries.TimeSeriesRegressor": 4,
}
# These want a configuration of their own kind.
_IN_LEARN = {
    "DNNClassifier": 10,
    "DNNEstimator": 8,
    "DNNRegressor": 9,
    "DynamicRnnEstimator": 15,
    "Estimator": 2,
    "LinearClassifier": 8,
    "LinearEstimator": 7,
    "LinearRegressor": 8,
    "LogisticRegressor": 3,
    "SVM": 8,
}
LEARN = "tf.contrib.learn."
ESTIMATORS = {
    "tf.keras.estimator.model_to_estimator": 4,
    **{f"tf.estimator.{name}": place for name, place in _IN_ESTIMATOR.items()},
    **{f"tf.contrib.{name}": place for name, place in _IN_CONTRIB.items()},
    **{f"{LEARN}{name}": place for name, place in _IN_LEARN.items()},
}
TPU_ESTIMATORS = (
    "tf.contrib.tpu.TPUEstimator",
    "tf.estimator.tpu.TPUEstimator",
    "tf.contrib.tpu.python.tpu.tpu_estimator.TPUEstimator",
)
_ALL = frozenset((*ESTIMATORS, *TPU_ESTIMATORS))
RUN_CONFIGS = (
    "tf.estimator.RunConfig",
    "tf.contrib.learn.RunConfig",
    "tf.contrib.tpu.RunConfig",
    "tf.estimator.tpu.RunConfig",
    "tf.contrib.tpu.python.tpu.tpu_config.RunConfig",
)
# What `RunConfig` takes by place.
RUN_CONFIG_FIELDS = (
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
)
_SESSION_CONFIG = RUN_CONFIG_FIELDS.index("session_config")


def estimator_calls(file: File) -> Iterator[Call]:
    """Calls that make an Estimator, also by `super().__init__(…)` in a class of the project."""
    yield from (call for call in file.calls if call.name in ESTIMATORS)
    for one in file.classes:
        base = file.full_name(one.bases[0]) if len(one.bases) == 1 else None
        if base in ESTIMATORS:
            yield from (Call(file.source, node, base) for node in _calls_of_base(one))


def bare_subclasses(file: File) -> Iterator[ast.expr]:
    """The bases of classes that leave it to their callers to configure the Estimator."""
    for one in file.classes:
        found = [base for base in one.bases if file.full_name(base) in _ALL]
        if not found or any(_calls_of_base(one)):
            continue
        if not any(_is_made_for_npu(other, one.name) for other in file.project.files):
            yield found[0]


def _is_made_for_npu(file: File, name: str) -> bool:
    """Whether a file makes an object of a class, and sends a configuration through the adapter."""
    return any(
        WRAPPER in file.text(call)
        for call in file.nodes(ast.Call)
        if file.text(call.func).rpartition(".")[2] == name
    )


def _calls_of_base(definition: ast.ClassDef) -> Iterator[ast.Call]:
    for node in ast.walk(definition):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "super().__init__",
            f"super({definition.name}, self).__init__",
        ):
            yield node


def is_tpu_copy(file: File) -> bool:
    """Whether a file defines a `TPUEstimator` anew, not by inheriting from TensorFlow's."""
    return any(
        one.name == "TPUEstimator"
        and not any((file.full_name(base) or "").endswith(".TPUEstimator") for base in one.bases)
        for one in file.classes
    )


def is_parallel(project: ProjectFiles) -> bool:
    """Whether the project may run on more than one device; asked more than once."""
    return project.once(is_distributed)


def may_hide_config(call: Call) -> bool:
    """Whether a configuration may be among the arguments where we do not see it."""
    return call.has_star_arguments or (
        ESTIMATORS[call.name] == _UNKNOWN and len(call.node.args) > 8
    )


def is_npu_run_config(file: File, config: ast.expr) -> bool:
    """Whether a configuration went through the adapter already."""
    values = (config, *assigned_values(file, config))
    return any(npu_name(called(file, value)) in (WRAPPER, "NPURunConfig") for value in values)


def stays_on_host(file: File, config: ast.expr) -> bool:
    """Whether sessions of this run configuration run on the host, as no adapter patches them."""
    return file.options.adapter == "explicit" and is_kept_on_host(file, config)


def is_kept_on_host(file: File, config: ast.expr) -> bool:
    """Whether a run configuration's `session_config` hides all GPUs."""
    sessions = (_session_config(file, one) for one in (config, *assigned_values(file, config)))
    return any(one is not None and is_kept_off_accelerators(file, one) for one in sessions)


def _session_config(file: File, config: ast.expr) -> ast.expr | None:
    """What `RunConfig(session_config=…)` is given, or `….replace(session_config=…)` after it."""
    while isinstance(config, ast.Call):
        given = Call(file.source, config, "").argument(_SESSION_CONFIG, "session_config")
        if given is not None:
            return given
        if not isinstance(config.func, ast.Attribute) or config.func.attr != "replace":
            return None
        config = config.func.value
    return None


def wrap_run_config(file: File, config: ast.expr) -> tuple[Edit, Edit]:
    """Send a configuration through the adapter, where it stands."""
    if isinstance(config, ast.NamedExpr | ast.Yield | ast.Await):
        return wrap(file.source, config, f"{WRAPPER}(run_config=(", "))")
    return wrap(file.source, config, f"{WRAPPER}(run_config=", ")")
