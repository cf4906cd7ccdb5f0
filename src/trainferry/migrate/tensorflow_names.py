"""Which names TensorFlow 1.15 has under `tf`, and its own for those of other versions.

The table is `tensorflow_names.toml`, made by tools/make_tensorflow_names.py.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from trainferry.migrate.keras_names import all_modules

# Moves that TensorFlow's release notes tell, those of 1.0 and of 1.12 to 1.14.
_MOVED = {
    "tf.audio_summary": "tf.summary.audio",
    "tf.batch_cholesky": "tf.cholesky",
    "tf.batch_matmul": "tf.matmul",
    "tf.batch_matrix_inverse": "tf.matrix_inverse",
    "tf.batch_self_adjoint_eig": "tf.self_adjoint_eig",
    "tf.batch_svd": "tf.svd",
    "tf.complex_abs": "tf.abs",
    "tf.concat_v2": "tf.concat",
    "tf.contrib.data.Dataset": "tf.data.Dataset",
    "tf.contrib.data.FixedLengthRecordDataset": "tf.data.FixedLengthRecordDataset",
    "tf.contrib.data.Iterator": "tf.data.Iterator",
    "tf.contrib.data.TFRecordDataset": "tf.data.TFRecordDataset",
    "tf.contrib.data.TextLineDataset": "tf.data.TextLineDataset",
    "tf.contrib.estimator.BaselineEstimator": "tf.estimator.BaselineEstimator",
    "tf.contrib.estimator.DNNEstimator": "tf.estimator.DNNEstimator",
    "tf.contrib.estimator.DNNLinearCombinedEstimator": "tf.estimator.DNNLinearCombinedEstimator",
    "tf.contrib.estimator.InMemoryEvaluatorHook": "tf.estimator.experimental.InMemoryEvaluatorHook",
    "tf.contrib.estimator.LinearEstimator": "tf.estimator.LinearEstimator",
    "tf.contrib.estimator.make_stop_at_checkpoint_step_hook": (
        "tf.estimator.experimental.make_stop_at_checkpoint_step_hook"
    ),
    "tf.contrib.lite": "tf.lite",
    "tf.histogram_summary": "tf.summary.histogram",
    "tf.image.per_image_whitening": "tf.image.per_image_standardization",
    "tf.image_summary": "tf.summary.image",
    "tf.inv": "tf.reciprocal",
    "tf.list_diff": "tf.setdiff1d",
    "tf.listdiff": "tf.setdiff1d",
    "tf.merge_all_summaries": "tf.summary.merge_all",
    "tf.merge_summary": "tf.summary.merge",
    "tf.mul": "tf.multiply",
    "tf.neg": "tf.negative",
    "tf.nn.bidirectional_rnn": "tf.nn.static_bidirectional_rnn",
    "tf.nn.rnn": "tf.nn.static_rnn",
    "tf.nn.seq2seq": "tf.contrib.legacy_seq2seq",
    "tf.nn.state_saving_rnn": "tf.nn.static_state_saving_rnn",
    "tf.pack": "tf.stack",
    "tf.scalar_summary": "tf.summary.scalar",
    "tf.select": "tf.where",
    "tf.sub": "tf.subtract",
    "tf.train.SummaryWriter": "tf.summary.FileWriter",
    "tf.unpack": "tf.unstack",
}
# Names that came after 1.15, for what 1.15 has under another name.
_LATER = {
    "tf.config.LogicalDeviceConfiguration": "tf.config.experimental.VirtualDeviceConfiguration",
    "tf.config.get_logical_device_configuration": (
        "tf.config.experimental.get_virtual_device_configuration"
    ),
    "tf.config.get_visible_devices": "tf.config.experimental.get_visible_devices",
    "tf.config.list_logical_devices": "tf.config.experimental.list_logical_devices",
    "tf.config.list_physical_devices": "tf.config.experimental.list_physical_devices",
    "tf.config.run_functions_eagerly": "tf.config.experimental_run_functions_eagerly",
    "tf.config.set_logical_device_configuration": (
        "tf.config.experimental.set_virtual_device_configuration"
    ),
    "tf.config.set_visible_devices": "tf.config.experimental.set_visible_devices",
    "tf.data.AUTOTUNE": "tf.data.experimental.AUTOTUNE",
    "tf.distribute.MultiWorkerMirroredStrategy": (
        "tf.distribute.experimental.MultiWorkerMirroredStrategy"
    ),
    "tf.lookup.experimental.MutableHashTable": "tf.contrib.lookup.MutableHashTable",
    "tf.nn.silu": "tf.nn.swish",
    "tf.optimizers": "tf.keras.optimizers",
    "tf.random.Generator": "tf.random.experimental.Generator",
    "tf.random.get_global_generator": "tf.random.experimental.get_global_generator",
    "tf.random.set_seed": "tf.random.set_random_seed",
    "tf.regularizers": "tf.keras.regularizers",
}


def missing_part(name: str) -> str | None:
    """The shortest part of a canonical name that 1.15 does not have: `tf.contrib.gan` of any below.

    None where it has the name, and where that is not known: members of classes, private names,
    modules deep in contrib.
    """
    modules = _modules()
    path, *parts = name.split(".")
    for part in parts:
        if path not in modules or part.startswith("_"):
            return None
        is_there = part in modules[path]
        path = f"{path}.{part}"
        if not is_there:
            return path
    return None


def moved_to(name: str) -> str | None:
    """What 1.15 calls a name that it does not have: where it went, or where it was then."""
    return moves().get(name)


def moves() -> Mapping[str, str]:
    """All names of which `moved_to` knows, with the new ones."""
    return {**_table()["moved"], **_MOVED, **_LATER}


@functools.cache
def _modules() -> Mapping[str, frozenset[str]]:
    own = {path: names for path, names in _table().items() if isinstance(names, str)}
    return {**all_modules(), **{path: frozenset(names.split()) for path, names in own.items()}}


@functools.cache
def _table() -> dict[str, Any]:
    folder = resources.files("trainferry.migrate")
    return tomllib.loads(folder.joinpath("tensorflow_names.toml").read_text("utf-8"))
