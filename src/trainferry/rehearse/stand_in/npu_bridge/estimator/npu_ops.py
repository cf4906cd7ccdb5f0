"""Stands in for the operators of the NPU that scripts call by name."""

import tensorflow as tf
from tensorflow.python.ops.script_ops import py_func_common

from npu_bridge.helper import helper
from trainferry_stand_in import outfeed, state
from trainferry_stand_in.calls import mark, marked
from trainferry_stand_in.errors import RefusedType, RefusedValue, only_on_device
from trainferry_stand_in.lars import lars_gradient
from trainferry_stand_in.recurrent import lstm_step

gen_npu_ops = helper.get_gen_ops()


def NPUInit(name=None):
    """An operator that starts the device and collective communication."""
    return _control(state.start, "NPUInit", name)


def NPUShutdown(name=None):
    """An operator that ends the device and collective communication."""
    return _control(state.stop, "NPUShutdown", name)


def initialize_system(name=None):
    """An operator that starts the device and collective communication."""
    return NPUInit(name)


def shutdown_system(name=None):
    """An operator that ends the device and collective communication."""
    return NPUShutdown(name)


def LARS(inputs_w, inputs_g, weight_decay, hyperpara=0.001, epsilon=1e-05, name=None):
    """Gradients scaled layer by layer, for lists of weights and gradients."""
    with tf.name_scope(name, "LARS"), marked("LARS"):
        return [
            lars_gradient(weight, gradient, weight_decay, hyperpara, epsilon)
            for weight, gradient in zip(inputs_w, inputs_g)
        ]


def LARSV2(
    input_weight,
    input_grad,
    weight_decay,
    learning_rate,
    hyperpara=0.001,
    epsilon=1e-05,
    use_clip=False,
    name=None,
):
    """A gradient scaled by the norms of the weights and of itself."""
    with tf.name_scope(name, "LARSV2"), marked("LarsV2"):
        clip = learning_rate if use_clip else None
        return lars_gradient(input_weight, input_grad, weight_decay, hyperpara, epsilon, clip)


def outfeed_dequeue_op(channel_name, output_types, output_shapes, name=None):
    """What the device sends home on a channel; waits until something comes."""
    return outfeed.dequeue(channel_name, output_types, output_shapes, name)


def outfeed_enqueue_op(channel_name, inputs, name=None):
    """Send tensors home on a channel."""
    return outfeed.enqueue(channel_name, inputs, name)


def stop_outfeed_dequeue_op(channel_name, name=None):
    """Wake whoever still waits on a channel."""
    return outfeed.stop(channel_name, name)


def dropout(x, keep_prob, noise_shape=None, seed=None, name=None):
    """Dropout; the device draws other random numbers than TensorFlow."""
    x = tf.convert_to_tensor(x, name="x")
    if not x.dtype.is_floating:
        raise RefusedValue(f"dropout takes floating point numbers, not {x.dtype.name}")
    if isinstance(keep_prob, (int, float)) and not 0 < keep_prob <= 1:
        raise RefusedValue(f"keep_prob is above 0 and at most 1, not {keep_prob}")
    if isinstance(keep_prob, (int, float)) and keep_prob == 1:
        return x
    with marked("DropOutDoMask"):
        rate = 1 - keep_prob
        return tf.nn.dropout(x, noise_shape=noise_shape, seed=seed, rate=rate, name=name)


def basic_lstm_cell(x, h, c, w, b, keep_prob, forget_bias, state_is_tuple, activation, name=None):
    """One step of a long short-term memory: c, h, i, j, f, o and tanh of c."""
    if activation not in (None, "tanh") or keep_prob not in (None, 1, 1.0):
        raise RefusedValue("basic_lstm_cell knows tanh and no dropout")
    with tf.name_scope(name, "BasicLSTMCell"), marked("BasicLSTMCell"):
        return lstm_step(x, h, c, w, b, forget_bias)


def adam_apply_one_assign(
    input0, input1, input2, input3, input4, mul0_x, mul1_x, mul2_x, mul3_x, add2_y, name=None
):
    only_on_device("adam_apply_one_assign", "it is one fused update of Adam")


def adam_apply_one_with_decay_assign(
    input0,
    input1,
    input2,
    input3,
    input4,
    mul0_x,
    mul1_x,
    mul2_x,
    mul3_x,
    mul4_x,
    add2_y,
    name=None,
):
    only_on_device("adam_apply_one_with_decay_assign", "it is one fused update of Adam")


def scatter_elements(data, indices, updates, axis=0, name=None):
    """`data` with `updates` written at `indices` along `axis`."""
    data, updates = tf.convert_to_tensor(data), tf.convert_to_tensor(updates)
    indices = tf.convert_to_tensor(indices)
    if indices.dtype not in (tf.int32, tf.int64):
        raise RefusedType(f"indices are int32 or int64, not {indices.dtype.name}")
    with tf.name_scope(name, "ScatterElements"), marked("ScatterElements"):
        shape = tf.shape(indices, out_type=indices.dtype)
        grid = tf.meshgrid(*[tf.range(shape[i]) for i in range(indices.shape.ndims)], indexing="ij")
        grid[axis] = indices
        return tf.tensor_scatter_nd_update(data, tf.stack(grid, axis=-1), updates)


def k_means_centroids(x, y, sum_square_y, sum_square_x, use_actual_distance=False, name=None):
    only_on_device("k_means_centroids", "it is one fused step of k-means")


def npu_onnx_graph_op(inputs, tout, model_path, name=None):
    only_on_device("npu_onnx_graph_op", "it runs an ONNX model")


def channel_get_next(channel_name, output_types, output_shapes):
    only_on_device("channel_get_next", "it reads a channel between host and device")


def _control(function, operator, name):
    def run():
        function()

    return mark(py_func_common(run, [], [], stateful=True, name=name or operator), operator)
