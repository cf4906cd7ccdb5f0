"""Gives back names inside TensorFlow that 2.x moved or removed."""

import importlib

from ..after_import import call_after_import
from .places import find

# Module: {name it had: where that is now, as `module:name`}. What a module still has stays.
MOVED = {
    "tensorflow.python.ops.control_flow_ops": {
        "Assert": "tensorflow:Assert",
        "case": "tensorflow:case",
        "cond": "tensorflow:cond",
        "switch_case": "tensorflow:switch_case",
        "while_loop": "tensorflow:while_loop",
    },
    "tensorflow.python.ops.array_ops": {
        "stack": "tensorflow:stack",
        "unstack": "tensorflow:unstack",
    },
    "tensorflow.python.ops.random_ops": {"random_crop": "tensorflow:random_crop"},
    "tensorflow.python.ops.variables": {
        "RefVariable": "tensorflow.python.ops.ref_variable:RefVariable",
        "VariableV1": "tensorflow:Variable",
        "is_variable_initialized": "tensorflow:is_variable_initialized",
    },
    "tensorflow.python.ops.variable_scope": {
        "variable": "tensorflow:Variable",
        "VariableV1": "tensorflow:Variable",
        "default_variable_creator": "tensorflow.python.ops.ref_variable:default_variable_creator",
    },
    "tensorflow.python.framework.graph_util": {
        "convert_variables_to_constants": "tensorflow:graph_util.convert_variables_to_constants",
    },
    "tensorflow.python.framework.ops": {
        "IndexedSlices": "tensorflow:IndexedSlices",
        "IndexedSlicesValue": "tensorflow.python.framework.indexed_slices:IndexedSlicesValue",
        "Tensor": "tensorflow:Tensor",
        "convert_n_to_tensor_or_indexed_slices": (
            "tensorflow.python.framework.indexed_slices:convert_n_to_tensor_or_indexed_slices"
        ),
        "convert_to_tensor_or_indexed_slices": "tensorflow:convert_to_tensor_or_indexed_slices",
        "register_tensor_conversion_function": "tensorflow:register_tensor_conversion_function",
        "convert_to_tensor_v2": "tensorflow.compat.v2:convert_to_tensor",
    },
    "tensorflow.python.framework.tensor_util": {
        "constant_value": "tensorflow:get_static_value",
        "is_tensor": "tensorflow:is_tensor",
        "shape_tensor": "tensorflow.python.framework.tensor_conversion:shape_tensor",
    },
    "tensorflow.python.eager.function": {"defun": "tensorflow:function"},
    "tensorflow.python.util.nest": {"is_sequence": "tensorflow.python.util.nest:is_nested"},
    "tensorflow.python.pywrap_tensorflow": {
        "NewCheckpointReader": "tensorflow:train.NewCheckpointReader",
    },
    "tensorflow.python.saved_model.utils_impl": {
        "build_tensor_info": "tensorflow:saved_model.utils.build_tensor_info",
    },
    "tensorflow.python.distribute.parameter_server_strategy": {
        "ParameterServerStrategy": (
            "tensorflow.python.distribute.parameter_server_strategy:ParameterServerStrategyV1"
        ),
    },
}


def restore(tensorflow):
    """Add what is missing, to each module when it is loaded; replace nothing."""
    for module_name, names in MOVED.items():
        call_after_import(module_name, _adder(names))
    call_after_import("tensorflow.python.framework.ops", _add_register_shape)
    call_after_import("tensorflow.python.framework.tensor_shape", _add_shapes)
    call_after_import("tensorflow.python.layers.normalization", _repair_normalization)
    tensorflow.pywrap_tensorflow = importlib.import_module("tensorflow.python.pywrap_tensorflow")


def _adder(names):
    def add(module):
        for name, place in names.items():
            if name not in vars(module):
                found = find(place, None)
                if found is not None:
                    setattr(module, name, found)

    return add


def _repair_normalization(normalization):
    """2.15 looks for these layers in a package that no version of has them."""
    for place in ("keras.src.legacy_tf_layers", "keras.legacy_tf_layers"):
        found = find(place + ".normalization:", None)
        if found is not None:
            normalization.normalization = found
            return


def _add_register_shape(ops):
    # In 1.15 it does nothing any more: shapes come from the operators themselves.
    if "RegisterShape" not in vars(ops):
        ops.RegisterShape = lambda _: lambda function: function


def _add_shapes(tensor_shape):
    shape = tensor_shape.TensorShape
    for name, make in (
        ("scalar", lambda: shape([])),
        ("vector", lambda length: shape([length])),
        ("matrix", lambda rows, columns: shape([rows, columns])),
    ):
        if name not in vars(tensor_shape):
            setattr(tensor_shape, name, make)
