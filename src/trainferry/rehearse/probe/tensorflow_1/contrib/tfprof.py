"""`tf.contrib.tfprof`: counts of parameters and operations, printed."""

import types

import tensorflow.compat.v1 as tf

_BUILDER = tf.profiler.ProfileOptionBuilder


def _print_model_analysis(
    graph, run_meta=None, op_log=None, tfprof_cmd="scope", tfprof_options=None
):
    options = tfprof_options or _BUILDER.trainable_variables_parameter()
    return tf.profiler.profile(graph, run_meta, op_log, tfprof_cmd, options)


model_analyzer = types.SimpleNamespace(
    print_model_analysis=_print_model_analysis,
    TRAINABLE_VARS_PARAMS_STAT_OPTIONS=_BUILDER.trainable_variables_parameter(),
    FLOAT_OPS_OPTIONS=_BUILDER.float_operation(),
    PRINT_ALL_TIMING_MEMORY=_BUILDER.time_and_memory(),
)
