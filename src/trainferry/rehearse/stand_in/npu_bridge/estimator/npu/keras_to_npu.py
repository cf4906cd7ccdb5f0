"""Stands in for the bridge from Keras models to the estimator of the NPU."""

import tensorflow as tf

from npu_bridge.estimator.npu.npu_config import NPURunConfig
from npu_bridge.estimator.npu.npu_estimator import NPUEstimator
from trainferry_stand_in.errors import RefusedValue


def model_to_npu_estimator(
    keras_model=None,
    keras_model_path=None,
    custom_objects=None,
    model_dir=None,
    checkpoint_format="saver",
    config=None,
    job_start_file="",
):
    """An estimator that trains a compiled functional or sequential model."""
    config = NPURunConfig() if config is None else config
    if keras_model is not None and not getattr(keras_model, "_is_graph_network", False):
        raise RefusedValue(
            "only functional and sequential models become estimators, "
            f"not {type(keras_model).__name__}"
        )
    plain = tf.keras.estimator.model_to_estimator(
        keras_model=keras_model,
        keras_model_path=keras_model_path,
        custom_objects=custom_objects,
        model_dir=model_dir,
        config=config,
        checkpoint_format=checkpoint_format,
    )
    return NPUEstimator(
        model_fn=plain._model_fn,
        model_dir=plain.model_dir,
        config=config.replace(model_dir=plain.model_dir),
        job_start_file=job_start_file,
        warm_start_from=plain._warm_start_settings,
    )
