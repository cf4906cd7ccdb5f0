"""Stands in for the door to the operators of the NPU's library."""

from trainferry_stand_in.library import Library

version = "v1.15.0"
npu_bridge_handle = Library()


def get_gen_ops():
    """The operators by their names in the library."""
    return npu_bridge_handle
