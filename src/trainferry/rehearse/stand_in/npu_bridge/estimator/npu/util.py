"""Stands in for the helpers of the adapter: loops on the device, options of graphs, ranks."""

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2, variable_pb2
from tensorflow.python.framework import ops

from trainferry_stand_in import loops, ranks
from trainferry_stand_in.errors import RefusedType, RefusedValue, UnknownRank
from trainferry_stand_in.notes import note
from trainferry_stand_in.sharing import (
    GradDivisionItem,
    add_grads_and_vars,
    fair_division,
    get_all_grad_item,
    get_gid_by_grad,
    get_gid_by_weight,
)

_values = {}
_is_ready = []


def register_func(var_name):
    """Let the collection of a loop variable survive in a saved graph."""
    ops.register_proto_function(
        loops.collection_of(var_name),
        proto_type=variable_pb2.VariableDef,
        to_proto=lambda variable, export_scope=None: variable.to_proto(export_scope),
        from_proto=lambda proto, import_scope=None: tf.Variable.from_proto(proto, import_scope),
    )


def create_or_get_var(var_name):
    """A variable that carries the number of steps per loop to the device."""
    return loops.loop_variable(var_name)


def set_iteration_per_loop(sess, train_op, iterations_per_loop=1):
    """An operator that makes so many steps in one run; it changes the graph."""
    loops.check_steps(iterations_per_loop)
    if iterations_per_loop == 1:
        return train_op
    grouped = loops.group_for_loop(train_op)
    loops.load_loop(sess, iterations_per_loop)
    return grouped


def get_ranksize():
    return ranks.world_size()


class IterationPerLoop:
    """The same in two calls, for graphs that are frozen between them."""

    def __init__(self):
        self._is_made = False

    def create_iteration_per_loop_var(self, train_op):
        """Change the graph; run what this gives back."""
        for name in loops.NAMES:
            loops.loop_variable(name)
        self._is_made = True
        return loops.group_for_loop(train_op)

    def load_iteration_per_loop_var(self, sess, iterations_per_loop=1):
        """Set the number of steps of one run."""
        if not self._is_made:
            raise RefusedValue("call `create_iteration_per_loop_var` first")
        with sess.graph.as_default():
            loops.load_loop(sess, iterations_per_loop)


def variable_initializer_in_host(var_list):
    """An operator that initialises variables on the host."""
    return tf.variables_initializer(var_list, name="var_in_host")


def set_graph_exec_config(
    fetch,
    dynamic_input=False,
    dynamic_graph_execute_mode="dynamic_execute",
    dynamic_inputs_shape_range=None,
    is_train_graph=False,
    experimental_config=None,
):
    """Put options for one graph on what is fetched, and give it back."""
    if dynamic_graph_execute_mode not in ("lazy_recompile", "dynamic_execute"):
        raise RefusedValue(
            "dynamic_graph_execute_mode is lazy_recompile or dynamic_execute, "
            f"not {dynamic_graph_execute_mode!r}"
        )
    shapes = dynamic_inputs_shape_range or ""
    for op in _operators(fetch):
        _set(op, "_graph_dynamic_input", attr_value_pb2.AttrValue(b=bool(dynamic_input)))
        _set(op, "_graph_dynamic_graph_execute_mode", _text(dynamic_graph_execute_mode))
        _set(op, "_graph_dynamic_inputs_shape_range", _text(shapes))
        _set(op, "_is_train_graph", attr_value_pb2.AttrValue(b=bool(is_train_graph)))
    return fetch


def npu_compile(sess, *fetches):
    """Compile without running; a rehearsal only looks whether the fetches are of this graph."""
    for fetch in fetches:
        sess.graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
    note("not-compiled", "`npu_compile` compiles on the device only")


def global_dict_init():
    """Make room for what `init_resource` knows of the ranks."""
    _values.clear()
    _is_ready.append(True)


def set_value(key, value):
    _require_dict()
    _values[key] = value


def get_value(key, def_value=None):
    _require_dict()
    return _values.get(key, def_value)


def keep_tensors_dtypes(graph, input_tensors):
    """Keep the dtype of these tensors' operators under mixed precision; for inference."""
    if not isinstance(input_tensors, (list, tuple)):
        raise RefusedType("names of tensors are given in a tuple or a list")
    for name in input_tensors:
        op = graph.as_graph_element(name).op
        _set(op, "_keep_dtype", attr_value_pb2.AttrValue(i=1))


def set_op_tensor_max_range(tensor, max_shape):
    """Tell the device the greatest shape of a tensor."""
    _set(tensor.op, "_op_max_shape", _text(max_shape))


def set_op_input_tensor_multi_dims(tensor, input_shape, input_dims):
    """Tell the device the prepared shapes of an operator's inputs."""
    _set(tensor.op, "_subgraph_multi_dims_input_shape", _text(input_shape))
    _set(tensor.op, "_subgraph_multi_dims_input_dims", _text(input_dims))


def set_op_tensor_max_size(tensor, max_size):
    """Tell the device the greatest size of a tensor in bytes."""
    _set(tensor.op, "_op_max_size", _text(max_size))


def _require_dict():
    if not _is_ready:
        raise UnknownRank(
            "call `init_resource()` first: nothing is known of the ranks before "
            "(on the device: NameError)"
        )


def _operators(fetch):
    if isinstance(fetch, (list, tuple)):
        return [op for part in fetch for op in _operators(part)]
    if isinstance(fetch, str):
        fetch = ops.get_default_graph().as_graph_element(fetch)
    if isinstance(fetch, tf.Operation):
        return [fetch]
    if isinstance(getattr(fetch, "op", None), tf.Operation):
        return [fetch.op]
    raise RefusedValue(
        f"what is fetched is an operation, a tensor, a list of them or a name, not {fetch!r}"
    )


def _set(op, name, value):
    op._set_attr(name, value)


def _text(value):
    return attr_value_pb2.AttrValue(s=str(value).encode("utf-8"))
