"""Stands in for the module that migrated scripts import with a star; it patches sessions."""

import atexit as _atexit
import os

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
from tensorflow.python.client import session
from tensorflow.python.keras import backend
from tensorflow.python.training import session_run_hook

from hccl.manage.api import (
    create_group,
    destroy_group,
    get_group_rank_from_world_rank,
    get_local_rank_id,
    get_local_rank_size,
    get_rank_id,
    get_rank_size,
    get_world_rank_from_group_rank,
)
from hccl.split.api import set_split_strategy_by_idx, set_split_strategy_by_size
from npu_bridge.estimator import npu_ops
from npu_bridge.estimator.npu import (
    keras_to_npu,
    npu_plugin,
    npu_rnn,
    npu_scope,
    npu_strategy,
    util,
)
from npu_bridge.estimator.npu.npu_callbacks import NPUBroadcastGlobalVariablesCallback
from npu_bridge.estimator.npu.npu_config import (
    DumpConfig,
    DynamicInputConfig,
    MemoryConfig,
    NPURunConfig,
    ProfilingConfig,
    decorator_tf_session,
)
from npu_bridge.estimator.npu.npu_estimator import NPUEstimator, NPUEstimatorSpec
from npu_bridge.estimator.npu.npu_hook import (
    NPUBroadcastGlobalVariablesHook,
    NPUCheckpointSaverHook,
    NPUOutputTensorHook,
    SetIterationsVarHook,
    TellMeStepOrLossHook,
)
from npu_bridge.estimator.npu.npu_loss_scale_manager import (
    ExponentialUpdateLossScaleManager,
    FixedLossScaleManager,
)
from npu_bridge.estimator.npu.npu_loss_scale_optimizer import NPULossScaleOptimizer
from npu_bridge.estimator.npu.npu_optimizer import (
    KerasDistributeOptimizer,
    NPUDistributedOptimizer,
    NPUOptimizer,
    npu_allreduce,
    npu_distributed_optimizer_wrapper,
)
from npu_bridge.estimator.npu_unary_ops import npu_unary_ops
from npu_bridge.hccl import hccl_ops
from npu_bridge.npu_cpu import npu_cpu_ops
from npu_bridge.profiler import profiler
from npu_bridge.scoped_graph_manager import scoped_graph_manager
from trainferry_stand_in import ranks as _ranks
from trainferry_stand_in import sessions as _sessions
from trainferry_stand_in.notes import note as _note
from trainferry_stand_in.npu_session import turn_graph_to_npu as _turn_graph_to_npu
from trainferry_stand_in.npu_session import turn_to_npu as _turn_to_npu

experimental_options = {
    "disable_model_pruning": False,
    "function_optimization": RewriterConfig.ON,
    "constant_folding": RewriterConfig.ON,
    "shape_optimization": RewriterConfig.ON,
    "arithmetic_optimization": RewriterConfig.ON,
    "loop_optimization": RewriterConfig.ON,
    "dependency_optimization": RewriterConfig.ON,
    "layout_optimizer": RewriterConfig.ON,
}


def npu_hooks_append(hooks_list=()):
    """The hooks with one more, which starts all ranks with the same values."""
    hooks = _as_list(hooks_list, "npu_hooks_append", "hooks")
    hooks.append(NPUBroadcastGlobalVariablesHook(0, _ranks.world_rank()))
    return hooks


def npu_callbacks_append(callbacks_list=()):
    """The callbacks with one more, which starts all ranks with the same values."""
    callbacks = _as_list(callbacks_list, "npu_callbacks_append", "callbacks")
    callbacks.append(NPUBroadcastGlobalVariablesCallback(root_rank=0))
    return callbacks


def npu_config_proto(config_proto=None):
    """A configuration whose session hands its graphs to the NPU; changed in place."""
    return _turn_to_npu(config_pb2.ConfigProto() if config_proto is None else config_proto)


def npu_graph_options(graph_options=None):
    """The same for the part of a configuration about graphs."""
    return _turn_graph_to_npu(config_pb2.GraphOptions() if graph_options is None else graph_options)


def npu_optimizer_options(optimizer_options=None):
    """The same for the part about optimisation: no compilation by XLA."""
    options = config_pb2.OptimizerOptions() if optimizer_options is None else optimizer_options
    options.global_jit_level = config_pb2.OptimizerOptions.OFF
    return options


def npu_run_config_init(run_config=None):
    """A run configuration of TensorFlow whose sessions hand their graphs to the NPU."""
    if run_config is None:
        return tf.estimator.RunConfig(session_config=npu_config_proto())
    if run_config.session_config is None:
        return run_config.replace(session_config=npu_config_proto())
    npu_config_proto(run_config.session_config)
    return run_config


def set_keras_session_npu_config(config=None):
    """Give Keras a session that hands its graphs to the NPU."""
    sess = session.Session(config=npu_config_proto(config))
    tf.keras.backend.set_session(sess)
    return sess


def init_resource(config=None):
    """Start collective communication; gives a session and the operator that ends it."""
    start, end = npu_ops.initialize_system(), npu_ops.shutdown_system()
    sess = session.Session(config=npu_config_proto(config))
    sess.run(start)
    util.global_dict_init()
    util.set_value("npu_rank_id", get_rank_id())
    util.set_value("npu_local_rank_id", get_local_rank_id())
    util.set_value("npu_rank_size", get_rank_size())
    util.set_value("npu_local_rank_size", get_local_rank_size())
    return sess, end


def shutdown_resource(sess, npu_shutdown):
    """End collective communication."""
    sess.run(npu_shutdown)


def close_session(sess):
    sess.close()


def get_npu_rank_id():
    return util.get_value("npu_rank_id", 0)


def get_npu_local_rank_id():
    return util.get_value("npu_local_rank_id", 0)


def get_npu_rank_size():
    return util.get_value("npu_rank_size", 1)


def get_npu_local_rank_size():
    return util.get_value("npu_local_rank_size", 1)


class NpuEmptyHook(session_run_hook.SessionRunHook):
    """Does nothing, where a hook is needed."""


def npu_keras_optimizer(opt):
    """An optimizer of Keras that averages gradients; the older spelling."""
    return npu_distributed_optimizer_wrapper(opt)


def npu_tf_optimizer(opt):
    """An optimizer of `tf.train` that averages gradients; the older spelling."""
    return NPUDistributedOptimizer(opt)


def npu_clear_session(config=None):
    """Forget the session and graph of Keras, and open the next session on the NPU."""
    tf.keras.backend.clear_session()
    set_keras_session_npu_config(config)


def _as_list(given, name, what):
    if isinstance(given, list):
        return given
    if given:
        _note(
            "hooks-lost",
            f"`{name}` takes a list; the adapter loses the {what} of a {type(given).__name__}",
        )
    return []


if _sessions.adapter() == "patched":
    session.Session.__init__ = decorator_tf_session(session.Session.__init__)
    session.InteractiveSession.__init__ = decorator_tf_session(session.InteractiveSession.__init__)
_atexit.register(npu_plugin.npu_close)
