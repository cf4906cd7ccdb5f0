"""Stands in for the deformable convolution of the NPU, which a rehearsal does not have."""

from npu_bridge.helper import helper
from trainferry_stand_in.errors import only_on_device

gen_npu_ops = helper.get_gen_ops()


def deformable_conv2d(
    x,
    filter,
    offsets,
    strides=None,
    pads=None,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    groups=1,
    deformable_groups=1,
    modulated=True,
    name=None,
):
    only_on_device("deformable_conv2d", "it is a convolution with learned offsets")
