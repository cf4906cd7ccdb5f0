"""Stands in for operators of the vector cores."""

import tensorflow as tf

from npu_bridge.estimator import npu_aicore_ops
from npu_bridge.helper import helper
from trainferry_stand_in.errors import only_on_device

gen_npu_ops = helper.get_gen_ops()


def lamb_apply_optimizer_assign(
    input0,
    input1,
    input2,
    input3,
    mul0_x,
    mul1_x,
    mul2_x,
    mul3_x,
    add2_y,
    steps,
    do_use_weight,
    weight_decay_rate,
    name=None,
):
    only_on_device("lamb_apply_optimizer_assign", "it is one fused update of LAMB")


def lamb_apply_weight_assign(input0, input1, input2, input3, input4, name=None):
    only_on_device("lamb_apply_weight_assign", "it is one fused update of LAMB")


class PReLU(tf.keras.layers.PReLU):
    """The layer of Keras, by the operator of the NPU."""

    def __init__(
        self,
        alpha_initializer="zeros",
        alpha_regularizer=None,
        alpha_constraint=None,
        shared_axes=None,
        **kwargs,
    ):
        super().__init__(
            alpha_initializer=alpha_initializer,
            alpha_regularizer=alpha_regularizer,
            alpha_constraint=alpha_constraint,
            shared_axes=shared_axes,
            **kwargs,
        )

    def call(self, inputs):
        return npu_aicore_ops.prelu(inputs, self.alpha)
