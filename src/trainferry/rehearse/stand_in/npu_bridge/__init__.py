"""Stands in for the TensorFlow adapter of Ascend NPUs, on stock TensorFlow."""

from npu_bridge.estimator.npu import npu_estimator
from npu_bridge.estimator.npu.npu_plugin import npu_close
from npu_bridge.hccl import hccl_ops
from npu_bridge.helper import helper
from npu_bridge.helper.helper import npu_bridge_handle
from trainferry_stand_in import sessions

__version__ = helper.version
sessions.install()
