"""Says which part of `tf.contrib` is not here, why, and who has it."""

import importlib
import importlib.util

# Parts whose operators 2.x does not have, in words that help.
REASONS = {
    "cudnn_rnn": "its kernels run on NVIDIA GPUs only",
    "tensorrt": "it works on NVIDIA GPUs only",
}
# Parts that 1.15 has and that are not rebuilt; other names never were in it.
NOT_REBUILT = frozenset(
    [
        "all_reduce",
        "batching",
        "bayesflow",
        "bigtable",
        "boosted_trees",
        "cloud",
        "constrained_optimization",
        "copy_graph",
        "cudnn_rnn",
        "decision_trees",
        "deprecated",
        "factorization",
        "feature_column",
        "ffmpeg",
        "fused_conv",
        "graph_editor",
        "grid_rnn",
        "hadoop",
        "ignite",
        "input_pipeline",
        "integrate",
        "kafka",
        "keras",
        "kernel_methods",
        "kinesis",
        "labeled_tensor",
        "learn",
        "libsvm",
        "linear_optimizer",
        "memory_stats",
        "meta_graph_transform",
        "model_pruning",
        "nearest_neighbor",
        "optimizer_v2",
        "periodic_resample",
        "predictor",
        "proto",
        "quantization",
        "quantize",
        "receptive_field",
        "recurrent",
        "reduce_slice_ops",
        "remote_fused_graph",
        "resampler",
        "rpc",
        "saved_model",
        "seq2seq",
        "session_bundle",
        "solvers",
        "sparsemax",
        "specs",
        "stat_summarizer",
        "tensor_forest",
        "tensorrt",
        "testing",
        "text",
        "timeseries",
    ]
)
# Names that were gone in 1.15 already, and the package that has them there.
_HOOKS = ("higher", "lower", "no_decrease", "no_increase")
GONE = dict.fromkeys(
    [
        "tf.contrib.estimator.InMemoryEvaluatorHook",
        "tf.contrib.estimator.make_early_stopping_hook",
        *(f"tf.contrib.estimator.stop_if_{when}_hook" for when in _HOOKS),
    ],
    "tf.estimator.experimental",
)
ON_SLIM = ("slim", "layers", "framework", "training", "metrics", "losses")


class NotInTensorFlow2(ImportError):
    """A part of TensorFlow 1.15 that was left out of 2.x and that we do not rebuild."""


def explain(name):
    """The error to raise for the module or name `name`, such as `tensorflow.contrib.gan`."""
    short = name.replace("tensorflow.", "tf.", 1)
    part = name.split(".")[2] if name.count(".") > 1 else ""
    if part in ON_SLIM and importlib.util.find_spec("tf_slim") is None:
        return NotInTensorFlow2(
            f"`{short}` needs the package tf_slim on TensorFlow 2.x: pip install tf_slim, "
            f"or rehearse with TensorFlow 1.15, which has `{short}`",
            name=name,
        )
    if short in GONE:
        new = GONE[short] + "." + short.rpartition(".")[2]
        return NotInTensorFlow2(f"TensorFlow 1.15 has no `{short}`: use `{new}`", name=name)
    reason = ": " + REASONS[part] if part in REASONS else ""
    return NotInTensorFlow2(
        f"`{short}` is neither in TensorFlow 2.x nor rebuilt for the rehearsal{reason}. "
        f"TensorFlow 1.15 has all of `tf.contrib.{part}`: rehearse with an interpreter that has "
        "tensorflow==1.15.5 (Python 3.7; `trainferry rehearse --setup` makes one)",
        name=name,
    )


def missing_attribute(module_name):
    """A `__getattr__` for the module `module_name`, which has all that we have."""

    def __getattr__(name):
        if name == "python":
            return importlib.import_module(module_name + "." + name)
        if name.startswith("__"):
            raise AttributeError(name)
        # Not an ImportError: `hasattr` and pickle ask modules for names that nobody has.
        raise AttributeError(str(explain(module_name + "." + name)))

    return __getattr__


def import_attribute(module_name):
    """A `__getattr__` for the package `module_name`, which loads its modules when asked."""

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return importlib.import_module(module_name + "." + name)

    return __getattr__
