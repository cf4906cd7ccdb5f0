"""`tf.contrib.framework`: scopes of arguments, variables and checkpoints."""

import tensorflow.compat.v1 as tf
from tensorflow.python.framework.ops import strip_name_scope
from tensorflow.python.framework.smart_cond import (
    smart_case,
    smart_cond,
    smart_constant_value,
)
from tensorflow.python.util import nest
from tensorflow.python.util.deprecation import (
    deprecated,
    deprecated_arg_values,
    deprecated_args,
)
from tf_slim.ops.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from tf_slim.ops.variables import *  # noqa: F403

TensorSpec = tf.TensorSpec
argsort = tf.argsort
assert_same_float_dtype = tf.debugging.assert_same_float_dtype
assert_scalar = tf.debugging.assert_scalar
convert_to_tensor_or_sparse_tensor = tf.convert_to_tensor_or_sparse_tensor
init_from_checkpoint = tf.train.init_from_checkpoint
is_tensor = tf.is_tensor
list_variables = tf.train.list_variables
load_checkpoint = tf.train.load_checkpoint
load_variable = tf.train.load_variable
py_func = tf.py_func
sort = tf.sort


def get_name_scope():
    """The name scope in force, without a slash behind it."""
    return tf.get_default_graph().get_name_scope()


def get_graph_from_inputs(op_input_list, graph=None):
    """The graph that the inputs belong to."""
    return graph or op_input_list[0].graph
