"""Stands in for operators of the NPU's cores; those of molecular dynamics raise."""

import tensorflow as tf

from npu_bridge.estimator import npu_ops
from npu_bridge.helper import helper
from trainferry_stand_in.calls import marked
from trainferry_stand_in.errors import only_on_device

npu_aicore_ops = helper.get_gen_ops()


def fast_gelu_v2(x, name=None):
    """The Gaussian error linear unit, by a sigmoid."""
    return helper.get_gen_ops().fast_gelu(x, name)


def centralization(x, axes, name=None):
    """`x` without its mean over `axes`."""
    with tf.name_scope(name, "Centralization"), marked("Centralization"):
        return x - tf.reduce_mean(x, axis=axes, keepdims=True)


def prelu(x, weight):
    """`x` where positive, else `x` times `weight`."""
    with marked("PRelu"):
        return tf.maximum(x, 0) + weight * tf.minimum(x, 0)


def dropout_v3(x, keep_prob, noise_shape=None, seed=None, name=None):
    """Dropout; the device draws other random numbers than TensorFlow."""
    return npu_ops.dropout(x, keep_prob, noise_shape, seed, name)


def dropout_v4(x, keep_prob, noise_shape=None, seed=None, output_dtype=tf.bool, name=None):
    """Dropout; the device draws other random numbers than TensorFlow."""
    return npu_ops.dropout(x, keep_prob, noise_shape, seed, name)


def lru_cache_v2(index_list, data, cache, tag, is_last_call, pre_route_count, name=None):
    only_on_device("lru_cache_v2", "it keeps rows of a table in the memory of the device")


def nonzero(x, transpose=False, output_type=tf.int64, name=None):
    """Where `x` is not zero: one row for each number, or one column if transposed."""
    with tf.name_scope(name, "NonZero"), marked("NonZero"):
        found = tf.cast(tf.where(tf.not_equal(x, 0)), output_type)
        return tf.transpose(found) if transpose else found


def nonzerowithvalue(x, transpose=False, output_type=tf.int64, name=None):
    only_on_device("nonzerowithvalue", "it gives numbers and places in buffers of fixed size")


def layer_norm(x, gamma, beta, begin_norm_axis=0, begin_params_axis=0, epsilon=1e-07, name=None):
    """`x` normalised over its last dimensions: y, mean and variance."""
    with tf.name_scope(name, "LayerNorm"), marked("LayerNorm"):
        axes = list(range(begin_norm_axis % x.shape.ndims, x.shape.ndims))
        mean, variance = tf.nn.moments(x, axes, keep_dims=True)
        return (x - mean) * tf.math.rsqrt(variance + epsilon) * gamma + beta, mean, variance


def prod_env_mat_a(
    coord,
    types,
    natoms,
    box,
    mesh,
    davg,
    dstd,
    rcut_a=0.0,
    rcut_r=0.0,
    rcut_r_smth=0.0,
    sel_a=None,
    sel_r=None,
    name=None,
):
    only_on_device("prod_env_mat_a", _MOLECULES)


def prodvirialsea(net_deriv, in_deriv, rij, nlist, natoms, n_a_sel=0, n_r_sel=0, name=None):
    only_on_device("prodvirialsea", _MOLECULES)


def prodforcesea(net_deriv, in_deriv, nlist, natoms, n_a_sel=0, n_r_sel=0, name=None):
    only_on_device("prodforcesea", _MOLECULES)


def tabulatefusionsea(table, table_info, em_x, em, last_layer_size=128, name=None):
    only_on_device("tabulatefusionsea", _MOLECULES)


def tabulatefusionseagrad(table, table_info, em_x, em, dy_dem_x, dy_dem, name=None):
    only_on_device("tabulatefusionseagrad", _MOLECULES)


def tabulatefusion(table, table_info, em_x, em, last_layer_size=128, name=None):
    only_on_device("tabulatefusion", _MOLECULES)


def tabulatefusiongrad(table, table_info, em_x, em, dy_dem_x, dy_dem, name=None):
    only_on_device("tabulatefusiongrad", _MOLECULES)


_MOLECULES = "it is an operator of molecular dynamics"
