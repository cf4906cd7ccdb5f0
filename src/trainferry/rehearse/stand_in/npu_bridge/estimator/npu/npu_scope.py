"""Stands in for the scopes that tell the device how to treat the operators made in them.

The operators get the same attributes as on the device; stock TensorFlow does not look at them.
"""

import contextlib

from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework import ops

from npu_bridge.estimator.npu.npu_config import NpuExecutePlacement
from trainferry_stand_in.errors import RefusedType, RefusedValue


@contextlib.contextmanager
def without_npu_compile_scope():
    """Operators that stay on the host; the session needs `mix_compile_mode`."""
    with _attributes(_without_npu_compile=True):
        yield


@contextlib.contextmanager
def npu_variable_scope(placement=NpuExecutePlacement.ALL):
    """Variables for one part of the device."""
    if not isinstance(placement, NpuExecutePlacement):
        raise RefusedType(f"placement is a NpuExecutePlacement, not {placement!r}")
    with _attributes(_variable_placement=placement.value):
        yield


@contextlib.contextmanager
def keep_dtype_scope():
    """Operators that keep their dtype under mixed precision."""
    with _attributes(_keep_dtype=1):
        yield


@contextlib.contextmanager
def npu_stage_scope(stage):
    """Operators of one stage of a pipeline."""
    with _attributes(_stage_level=stage):
        yield


@contextlib.contextmanager
def npu_mem_type_scope():
    """Operators whose memory other devices may read."""
    with _attributes(_output_memory_type=1):
        yield


@contextlib.contextmanager
def npu_weight_prefetch_scope(buffer_pool_id=0, buffer_pool_size=536870912):
    """Operators whose weights are fetched ahead."""
    for name, value in (("id", buffer_pool_id), ("size", buffer_pool_size)):
        if not isinstance(value, int) or value < 0:
            raise RefusedValue(f"buffer_pool_{name} is 0 or more, not {value!r}")
    with _attributes(_buffer_pool_id=buffer_pool_id, _buffer_pool_size=buffer_pool_size):
        yield


@contextlib.contextmanager
def op_specified_engine_scope(engine_name, kernel_lib_name):
    """Operators for one engine of the device."""
    with _attributes(
        _specified_engine_name=engine_name, _specified_kernel_lib_name=kernel_lib_name
    ):
        yield


@contextlib.contextmanager
def npu_qos_label_scope(label):
    """Operators with one label of service quality."""
    with _attributes(_qos_service_label=label):
        yield


@contextlib.contextmanager
def subgraph_multi_dims_scope(index):
    """Operators that are compiled for several prepared shapes; scopes cannot be nested."""
    with _attributes(_subgraph_multi_dims_index=index):
        yield


@contextlib.contextmanager
def npu_optimizer_scope():
    """Operators that belong to the update of weights."""
    with _attributes(_optimizer=True):
        yield


@contextlib.contextmanager
def npu_recompute_scope():
    """Operators that are computed again in the backward pass, to save memory."""
    with _attributes(_recompute=True):
        yield


@contextlib.contextmanager
def npu_graph_slice_scope(slice_num=None):
    """Operators that are cut along the batch, to save memory."""
    with _attributes(_graph_slice=0 if slice_num is None else slice_num):
        yield


@contextlib.contextmanager
def disable_autofuse():
    """Operators that the device does not fuse by itself."""
    with _attributes(_disable_autofuse=True):
        yield


@contextlib.contextmanager
def limit_core_num_scope(op_aicore_num="0", op_vectorore_num="0"):
    """Operators that use only so many cores."""
    for value in (op_aicore_num, op_vectorore_num):
        if not isinstance(value, str) or not value.isdigit():
            raise RefusedType(f"numbers of cores are given as text, not {value!r}")
    with _attributes(_op_aicore_num=op_aicore_num, _op_vectorcore_num=op_vectorore_num):
        yield


def _attributes(**values):
    return ops.get_default_graph()._attr_scope(
        {name: _proto(value) for name, value in values.items()}
    )


def _proto(value):
    if isinstance(value, bool):
        return attr_value_pb2.AttrValue(b=value)
    if isinstance(value, int):
        return attr_value_pb2.AttrValue(i=value)
    return attr_value_pb2.AttrValue(s=str(value).encode("utf-8"))
