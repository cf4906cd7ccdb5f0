"""Stands in for the estimator of the NPU: broadcast, loops on the device, and host calls."""

import contextlib
import os
import tempfile

import tensorflow as tf

from npu_bridge.estimator.npu.npu_config import NPURunConfig
from npu_bridge.estimator.npu.npu_hook import (
    NPUBroadcastGlobalVariablesHook,
    NPUShutDownHook,
    SetIterationsVarHook,
)
from trainferry_stand_in import loops, ranks, state
from trainferry_stand_in.errors import RefusedValue
from trainferry_stand_in.host_calls import HostCallHook, check_host_call
from trainferry_stand_in.notes import note


@contextlib.contextmanager
def no_check_override():
    """Let a subclass of an estimator override what TensorFlow keeps for itself."""
    name = "_assert_members_are_not_overridden"
    kept = tf.estimator.Estimator.__dict__[name]
    setattr(tf.estimator.Estimator, name, staticmethod(lambda estimator: None))
    try:
        yield
    finally:
        setattr(tf.estimator.Estimator, name, kept)


class NPUEstimatorSpec(tf.estimator.EstimatorSpec):
    """What `model_fn` gives back, with summaries that come home through `host_call`."""

    def __new__(
        cls,
        mode,
        predictions=None,
        loss=None,
        train_op=None,
        eval_metric_ops=None,
        export_outputs=None,
        training_chief_hooks=None,
        training_hooks=None,
        scaffold=None,
        evaluation_hooks=None,
        prediction_hooks=None,
        host_call=None,
    ):
        if host_call is not None:
            check_host_call(host_call)
        spec = super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=eval_metric_ops,
            export_outputs=export_outputs,
            training_chief_hooks=training_chief_hooks,
            training_hooks=training_hooks,
            scaffold=scaffold,
            evaluation_hooks=evaluation_hooks,
            prediction_hooks=prediction_hooks,
        )
        spec.host_call = host_call
        return spec


class NPUEstimator(tf.estimator.Estimator):
    """An estimator whose sessions are the NPU's; all ranks start with the values of rank 0."""

    def __init__(
        self,
        model_fn=None,
        model_dir=None,
        config=None,
        params=None,
        job_start_file="",
        warm_start_from=None,
    ):
        if not isinstance(config, NPURunConfig):
            raise RefusedValue(
                f"NPUEstimator takes an NPURunConfig as `config`, not {type(config).__name__}"
            )
        if not os.environ.get("JOB_ID"):
            raise RefusedValue("NPUEstimator needs the environment variable JOB_ID")
        self._npu_config = config
        if model_dir is None and config.model_dir is None:
            model_dir = tempfile.mkdtemp(prefix="model_dir_", dir=os.getcwd())
        ready = config.replace(session_config=config.npu_session_config())
        with no_check_override():
            super().__init__(
                model_fn=model_fn,
                model_dir=model_dir,
                config=ready,
                params=params,
                warm_start_from=warm_start_from,
            )

    def _convert_train_steps_to_hooks(self, steps, max_steps):
        hooks = list(super()._convert_train_steps_to_hooks(steps, max_steps))
        state.start()
        if ranks.world_size() > 1 and not self._npu_config.horovod_mode:
            hooks.append(NPUBroadcastGlobalVariablesHook(0, ranks.world_rank()))
        loop = self._npu_config.iterations_per_loop
        if loop > 1:
            hooks.append(SetIterationsVarHook(loop))
            asked = steps or max_steps or 0
            if asked % loop:
                note("loop-and-steps", f"{asked} steps are no multiple of a loop of {loop} steps")
        return [*hooks, NPUShutDownHook()]

    def _convert_eval_steps_to_hooks(self, steps):
        state.start()
        return [*list(super()._convert_eval_steps_to_hooks(steps) or []), NPUShutDownHook()]

    def _call_model_fn(self, features, labels, mode, config):
        spec = super()._call_model_fn(features, labels, mode, config)
        host_call = getattr(spec, "host_call", None)
        if mode == tf.estimator.ModeKeys.TRAIN and self._npu_config.iterations_per_loop > 1:
            spec = spec._replace(train_op=loops.group_for_loop(tf.group(spec.train_op)))
        if host_call is not None and mode == tf.estimator.ModeKeys.TRAIN:
            hooks = (*tuple(spec.training_hooks or ()), HostCallHook(host_call))
            spec = spec._replace(training_hooks=hooks)
        elif host_call is not None and mode == tf.estimator.ModeKeys.EVAL:
            hooks = (*tuple(spec.evaluation_hooks or ()), HostCallHook(host_call))
            spec = spec._replace(evaluation_hooks=hooks)
        return spec
