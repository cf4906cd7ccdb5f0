"""Recurrent cells of `tf.contrib.rnn` that TensorFlow 2.x left out."""

import tensorflow.compat.v1 as tf

RNNCell = tf.nn.rnn_cell.RNNCell
LSTMStateTuple = tf.nn.rnn_cell.LSTMStateTuple


class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM whose gates and state are normalised, with dropout of what is added to the state.

    Ba, Kiros and Hinton, 2016, https://arxiv.org/abs/1607.06450; Semeniuta, Severyn and Barth,
    2016, https://arxiv.org/abs/1603.05118. Gates lie in the order input, new, forget, output.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        input_size=None,
        activation=tf.tanh,
        layer_norm=True,
        norm_gain=1.0,
        norm_shift=0.0,
        dropout_keep_prob=1.0,
        dropout_prob_seed=None,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        if input_size is not None:
            tf.logging.warn("%s: the argument input_size is not used", self)
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self):
        return self._num_units

    def call(self, inputs, state):
        old_state, old_output = state
        joined = tf.concat([inputs, old_output], 1)
        names = ("input", "transform", "forget", "output")
        gates = [
            self._normalise(gate, name) if self._layer_norm else gate
            for name, gate in zip(names, tf.split(self._linear(joined), 4, axis=1))
        ]
        new = self._activation(gates[1])
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = tf.nn.dropout(new, self._keep_prob, seed=self._seed)
        kept = old_state * tf.sigmoid(gates[2] + self._forget_bias)
        new_state = kept + tf.sigmoid(gates[0]) * new
        if self._layer_norm:
            new_state = self._normalise(new_state, "state")
        output = self._activation(new_state) * tf.sigmoid(gates[3])
        return output, LSTMStateTuple(new_state, output)

    def _linear(self, values):
        shape = [values.shape.as_list()[1], 4 * self._num_units]
        result = tf.matmul(values, tf.get_variable("kernel", shape, dtype=values.dtype))
        if self._layer_norm:
            return result
        return tf.nn.bias_add(
            result,
            tf.get_variable("bias", shape[1:], values.dtype, tf.zeros_initializer()),
        )

    def _normalise(self, values, scope):
        shape = values.shape[-1:]
        with tf.variable_scope(scope):
            gain = tf.get_variable(
                "gamma", shape, values.dtype, tf.constant_initializer(self._norm_gain)
            )
            shift = tf.get_variable(
                "beta", shape, values.dtype, tf.constant_initializer(self._norm_shift)
            )
        mean, variance = tf.nn.moments(values, [1], keepdims=True)
        epsilon = 1e-3 if values.dtype == tf.float16 else 1e-12
        return tf.nn.batch_normalization(values, mean, variance, shift, gain, epsilon)


class _Wrapper(RNNCell):
    """A cell around a cell."""

    def __init__(self, cell, reuse):
        super().__init__(_reuse=reuse)
        self._cell = cell

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    def zero_state(self, batch_size, dtype):
        return self._cell.zero_state(batch_size, dtype)

    def _project(self, values, size, activation):
        shape = [values.shape.as_list()[1], size]
        kernel = tf.get_variable("kernel", shape, values.dtype)
        bias = tf.get_variable("bias", [size], values.dtype, tf.zeros_initializer())
        result = tf.nn.bias_add(tf.matmul(values, kernel), bias)
        return activation(result) if activation else result


class InputProjectionWrapper(_Wrapper):
    """A linear layer before the cell."""

    def __init__(self, cell, num_proj, activation=None, input_size=None, reuse=None):
        super().__init__(cell, reuse)
        if input_size is not None:
            tf.logging.warn("%s: the argument input_size is not used", self)
        self._size = num_proj
        self._activation = activation

    def call(self, inputs, state):
        return self._cell(self._project(inputs, self._size, self._activation), state)


class OutputProjectionWrapper(_Wrapper):
    """A linear layer behind the cell."""

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"output_size must be at least 1, not {output_size}")
        self._size = output_size
        self._activation = activation

    @property
    def output_size(self):
        return self._size

    def call(self, inputs, state):
        output, state = self._cell(inputs, state)
        return self._project(output, self._size, self._activation), state
