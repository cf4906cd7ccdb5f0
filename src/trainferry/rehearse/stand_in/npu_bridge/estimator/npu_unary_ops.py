"""Stands in for the operators of one input."""

from npu_bridge.helper import helper

npu_unary_ops = helper.get_gen_ops()
