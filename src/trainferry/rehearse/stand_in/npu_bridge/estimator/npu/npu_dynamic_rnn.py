"""Stands in for the recurrent layers of the NPU, with their gates, defaults and restrictions."""

import math

import tensorflow as tf
from tensorflow.python.framework import tensor_util

from npu_bridge.helper import helper
from trainferry_stand_in.calls import marked
from trainferry_stand_in.errors import NotOnThisMachine, RefusedType, RefusedValue
from trainferry_stand_in.recurrent import gru, lstm

DYNAMIC_RNN_UNIDIRECTION = "UNIDIRECTIONAL"
DYNAMIC_RNN_BIDIRECTION = "BIDIRECTIONAL"
DYNAMIC_RNN_REDIRECTIONAL = "REDIRECTIONAL"
gen_npu_ops = helper.get_gen_ops()
# AutoGraph would wrap our errors in its own.
_plain = tf.autograph.experimental.do_not_convert
_DIRECTIONS = (DYNAMIC_RNN_UNIDIRECTION, DYNAMIC_RNN_BIDIRECTION, DYNAMIC_RNN_REDIRECTIONAL)


class _DynamicBasic(tf.layers.Layer):
    """Time first, batch second; every dimension must be known when the graph is built."""

    def __init__(self, hidden_size, dtype, **options):
        super().__init__(dtype=dtype)
        self._hidden_size = hidden_size
        self._weight_dtype = tf.as_dtype(dtype)
        self._options = options
        _check_options(type(self).__name__, options)

    def __getattr__(self, name):
        options = self.__dict__.get("_options", {})
        if name in options:
            return options[name]
        raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")

    def build(self, input_shape):
        steps, batch, _ = self._known(input_shape)
        self._seq_length = self.add_weight(
            "dynamicbase/seq_length",
            shape=[batch],
            dtype=tf.int32,
            initializer=tf.constant_initializer(steps),
            trainable=False,
        )
        super().build(input_shape)

    def _known(self, input_shape):
        shape = tf.TensorShape(input_shape)
        if shape.ndims != 3 or not shape.is_fully_defined():
            raise RefusedValue(
                f"{type(self).__name__} takes [time, batch, features], all known; this is {shape}. "
                "Fix batch size and length, for instance with `drop_remainder` and padding"
            )
        return shape.as_list()

    def _check_length(self, length, steps):
        """The stand-in runs whole sequences; lengths that say the same are fine."""
        if length is None:
            return
        value = tensor_util.constant_value(tf.convert_to_tensor(length))
        if value is None or any(int(item) != steps for item in value):
            raise NotOnThisMachine(
                f"{type(self).__name__} with `seq_length`: the device masks the steps after the "
                "end of each sequence; a rehearsal runs sequences of one length only"
            )

    def _weights(self, prefix, features):
        """The four weights of a GRU, uniform within one over the root of the hidden size."""
        width = 3 * self._hidden_size
        limit = 1.0 / math.sqrt(self._hidden_size)
        shapes = (
            ("weight_input", [features, width]),
            ("weight_hidden", [self._hidden_size, width]),
            ("bias_input", [width]),
            ("bias_hidden", [width]),
        )
        return [
            self.add_weight(
                f"{prefix}/{name}",
                shape=shape,
                dtype=self._weight_dtype,
                initializer=tf.random_uniform_initializer(-limit, limit),
            )
            for name, shape in shapes
        ]

    def _cast(self, tensor):
        return tf.cast(tensor, self._weight_dtype)


class DynamicGRUV2(_DynamicBasic):
    """A layer of gated recurrent units: y, h, update, reset, new, hidden_new."""

    def __init__(
        self,
        hidden_size,
        dtype,
        direction=DYNAMIC_RNN_UNIDIRECTION,
        cell_depth=1,
        keep_prob=1.0,
        cell_clip=-1.0,
        num_proj=0,
        time_major=True,
        activation="tanh",
        gate_order="zrh",
        reset_after=True,
        is_training=True,
    ):
        options = dict(locals())
        super().__init__(hidden_size, dtype, **_own(options))

    def build(self, input_shape):
        _, _, features = self._known(input_shape)
        self._gru = self._weights("dynamicgruv2", features)
        super().build(input_shape)

    @_plain
    def call(self, x, seq_length=None, init_h=None):
        steps, batch, _ = x.shape.as_list()
        self._check_length(seq_length, steps)
        start = _start(init_h, [batch, self._hidden_size], self._weight_dtype)
        with marked("DynamicGRUV2"):
            y, h, update, _, reset, new, hidden_new = gru(
                self._cast(x), start, self._gru, self.gate_order, self.reset_after
            )
        return y, h, update, reset, new, hidden_new


class DynamicAUGRU(_DynamicBasic):
    """A GRU with attention: y, h, update, update_att, reset, new, hidden_new."""

    def __init__(
        self,
        hidden_size,
        dtype,
        direction=DYNAMIC_RNN_UNIDIRECTION,
        cell_depth=1,
        keep_prob=1.0,
        cell_clip=-1.0,
        num_proj=0,
        time_major=True,
        activation="tanh",
        gate_order="zrh",
        reset_after=True,
        is_training=True,
    ):
        options = dict(locals())
        super().__init__(hidden_size, dtype, **_own(options))

    def build(self, input_shape):
        _, _, features = self._known(input_shape)
        self._gru = self._weights("dynamicaugru", features)
        super().build(input_shape)

    @_plain
    def call(self, x, weight_att, seq_length=None, init_h=None):
        steps, batch, _ = x.shape.as_list()
        self._check_length(seq_length, steps)
        start = _start(init_h, [batch, self._hidden_size], self._weight_dtype)
        attention = tf.reshape(self._cast(weight_att), [steps, batch, 1])
        with marked("DynamicAUGRU"):
            return tuple(
                gru(self._cast(x), start, self._gru, self.gate_order, self.reset_after, attention)
            )


class DynamicRNN(_DynamicBasic):
    """A layer of long short-term memories: y, h, c, i, j, f, o, tanh of c.

    Weights are drawn with a seed of their own, so all ranks start with the same ones.
    """

    def __init__(
        self,
        hidden_size,
        dtype,
        cell_type="LSTM",
        direction=DYNAMIC_RNN_UNIDIRECTION,
        cell_depth=1,
        use_peephole=False,
        keep_prob=1.0,
        cell_clip=-1.0,
        num_proj=0,
        time_major=True,
        activation="tanh",
        forget_bias=0.0,
        is_training=True,
    ):
        options = dict(locals())
        super().__init__(hidden_size, dtype, **_own(options))

    def build(self, input_shape):
        _, _, features = self._known(input_shape)
        self._w = self.add_weight(
            "dynamicrnn/w",
            shape=[features + self._hidden_size, 4 * self._hidden_size],
            dtype=self._weight_dtype,
            initializer=tf.glorot_uniform_initializer(seed=10),
        )
        self._b = self.add_weight(
            "dynamicrnn/b",
            shape=[4 * self._hidden_size],
            dtype=self._weight_dtype,
            initializer=tf.zeros_initializer(),
        )
        super().build(input_shape)

    @_plain
    def call(self, x, seq_length=None, init_h=None, init_c=None, weight=None, bias=None):
        steps, batch, _ = x.shape.as_list()
        self._check_length(seq_length, steps)
        shape = [batch, self._hidden_size]
        with marked("DynamicRNN"):
            return lstm(
                self._cast(x),
                _start(init_h, shape, self._weight_dtype),
                _start(init_c, shape, self._weight_dtype),
                self._w if weight is None else weight,
                self._b if bias is None else bias,
                self.forget_bias,
            )


def _own(options):
    """The options of a constructor without what is handed on by position."""
    left_out = ("self", "__class__", "hidden_size", "dtype")
    return {name: value for name, value in options.items() if name not in left_out}


def _start(state, shape, dtype):
    """The first state: zeros, or the user's with or without a leading dimension of 1."""
    if state is None:
        return tf.zeros(shape, dtype)
    return tf.reshape(tf.cast(state, dtype), shape)


_ONLY = {
    "cell_type": "LSTM",
    "cell_depth": 1,
    "use_peephole": False,
    "keep_prob": 1.0,
    "cell_clip": -1.0,
    "num_proj": 0,
    "time_major": True,
    "activation": "tanh",
}


def _check_options(name, options):
    if options["direction"] not in _DIRECTIONS:
        raise RefusedValue("{}: there is no direction {!r}".format(name, options["direction"]))
    if options["direction"] != DYNAMIC_RNN_UNIDIRECTION:
        raise NotOnThisMachine(
            "{}: direction {!r}; the documentation knows one direction only: reverse the input "
            "with `tf.reverse` and join the outputs".format(name, options["direction"])
        )
    for option, value in _ONLY.items():
        if option in options and options[option] != value:
            raise RefusedValue(f"{name}: {option} must be {value!r}, not {options[option]!r}")
    if options.get("gate_order", "zrh") not in ("zrh", "rzh"):
        raise RefusedValue(f"{name}: gate_order is zrh or rzh")
    if not isinstance(options.get("forget_bias", 0.0), (int, float)):
        raise RefusedType(f"{name}: forget_bias is a number")
