"""Which module of TensorFlow 2.x holds what a module of 1.15 held."""

# Of `tf.contrib`. Old name: new name; with a dot behind, only what is inside.
FROM_CONTRIB = {
    "tensorflow.contrib.slim.python.slim": "tf_slim",
    "tensorflow.contrib.slim.python": "tf_slim",
    "tensorflow.contrib.slim": "tf_slim",
    "tensorflow.contrib.layers.python.layers": "tf_slim.layers",
    "tensorflow.contrib.framework.python.ops.": "tf_slim.ops.",
    "tensorflow.contrib.framework.python.framework.": "tensorflow.python.training.",
    "tensorflow.contrib.training.python.training.hparam": "tensorflow.contrib.hparams",
    "tensorflow.contrib.training.python.training.": "tf_slim.training.",
    "tensorflow.contrib.metrics.python.ops.": "tf_slim.metrics.",
    "tensorflow.contrib.metrics.python.metrics.": "tf_slim.metrics.",
    "tensorflow.contrib.losses.python.losses.": "tf_slim.losses.",
    "tensorflow.contrib.losses.python.metric_learning.": "tf_slim.losses.",
    "tensorflow.contrib.tensorboard.plugins": "tensorboard.plugins",
}
# Inside TensorFlow; asked only for what this version does not have under its old name.
FROM_INSIDE = {
    "tensorflow.python.distribute.distribution_strategy_context": (
        "tensorflow.python.distribute.distribute_lib"
    ),
    "tensorflow.python.feature_column.dense_features": "keras.feature_column.dense_features",
    "tensorflow.python.keras.applications": "keras.applications",
    "tensorflow.python.keras.datasets": "keras.datasets",
    "tensorflow.python.keras.preprocessing": "keras.preprocessing",
    "tensorflow.python.training.tracking.graph_view": "tensorflow.python.checkpoint.graph_view",
    "tensorflow.python.training.tracking.tracking": "tensorflow.python.trackable.autotrackable",
    "tensorflow.python.training.tracking.util": "tensorflow.python.checkpoint.checkpoint",
    "tensorflow.python.training.tracking.": "tensorflow.python.trackable.",
    "tensorflow.python.util.compat_internal": "tensorflow.python.util.compat",
}


def new_name_of(name, table):
    """Where the module `name` is now; None if `table` knows nothing of it."""
    for old, new in table.items():
        if name == old or name.startswith(old if old.endswith(".") else old + "."):
            return new + name[len(old) :]
    return None
