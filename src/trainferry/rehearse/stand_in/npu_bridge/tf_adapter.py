"""Stands in for the compiled part of the adapter: the dtypes that scripts take from it."""

from tensorflow.core.framework.types_pb2 import (
    DT_BFLOAT16,
    DT_BOOL,
    DT_DOUBLE,
    DT_FLOAT,
    DT_HALF,
    DT_INT8,
    DT_INT16,
    DT_INT32,
    DT_INT64,
    DT_UINT8,
    DT_UINT16,
    DT_UINT32,
    DT_UINT64,
)
