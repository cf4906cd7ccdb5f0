"""The LSTM of `tf.contrib.rnn` that is one operator per step, or one for the whole sequence."""

import tensorflow.compat.v1 as tf

LSTMStateTuple = tf.nn.rnn_cell.LSTMStateTuple
_NO_CLIP = -1.0


def _variables(add, input_size, units, use_peephole):
    kernel = add("kernel", [input_size + units, 4 * units])
    bias = add("bias", [4 * units], initializer=tf.zeros_initializer())
    if use_peephole:
        peepholes = [add(name, [units]) for name in ("w_i_diag", "w_f_diag", "w_o_diag")]
    else:
        peepholes = [tf.zeros([units], kernel.dtype)] * 3
    return kernel, bias, peepholes


class LSTMBlockCell(tf.nn.rnn_cell.RNNCell):
    """One step; gates in the order input, new, forget, output, as in BasicLSTMCell."""

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        cell_clip=None,
        use_peephole=False,
        dtype=None,
        reuse=None,
        name="lstm_cell",
    ):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._clip = _NO_CLIP if cell_clip is None else cell_clip
        self._use_peephole = use_peephole

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self):
        return self._num_units

    def call(self, inputs, state):
        if not isinstance(state, (tuple, list)) or len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        kernel, bias, (peep_i, peep_f, peep_o) = _variables(
            tf.get_variable, inputs.shape.as_list()[1], self._num_units, self._use_peephole
        )
        old_state, old_output = state
        # The operator of this name has no gradient in 2.x, so its arithmetic is spelt out.
        values = tf.matmul(tf.concat([inputs, old_output], 1), kernel)
        gate_i, new, gate_f, gate_o = tf.split(tf.nn.bias_add(values, bias), 4, axis=1)
        forget = tf.sigmoid(gate_f + self._forget_bias + old_state * peep_f)
        new_state = forget * old_state + tf.sigmoid(gate_i + old_state * peep_i) * tf.tanh(new)
        if self._clip > 0:
            # The operator's gradient does not know of the clipping.
            clipped = tf.clip_by_value(new_state, -self._clip, self._clip)
            new_state += tf.stop_gradient(clipped - new_state)
        output = tf.sigmoid(gate_o + new_state * peep_o) * tf.tanh(new_state)
        return output, LSTMStateTuple(new_state, output)


class LSTMBlockFusedCell(tf.layers.Layer):
    """The whole sequence, [time, batch, size], in one operator."""

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        cell_clip=None,
        use_peephole=False,
        reuse=None,
        dtype=None,
        name="lstm_fused_cell",
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._clip = _NO_CLIP if cell_clip is None else cell_clip
        self._use_peephole = use_peephole

    @property
    def num_units(self):
        return self._num_units

    def build(self, input_shape):
        self._made = _variables(
            self.add_weight, int(input_shape[-1]), self._num_units, self._use_peephole
        )
        super().build(input_shape)

    def call(self, inputs, initial_state=None, dtype=None, sequence_length=None):
        kernel, bias, (peep_i, peep_f, peep_o) = self._made
        inputs = tf.convert_to_tensor(inputs, dtype)
        steps, batch = tf.unstack(tf.shape(inputs)[:2])
        if initial_state is None:
            zeros = tf.zeros([batch, self._num_units], inputs.dtype)
            initial_state = (zeros, zeros)
        longest = steps if sequence_length is None else tf.reduce_max(sequence_length)
        result = tf.raw_ops.BlockLSTM(
            seq_len_max=tf.cast(longest, tf.int64),
            x=inputs,
            cs_prev=initial_state[0],
            h_prev=initial_state[1],
            w=kernel,
            wci=peep_i,
            wcf=peep_f,
            wco=peep_o,
            b=bias,
            forget_bias=self._forget_bias,
            cell_clip=self._clip,
            use_peephole=self._use_peephole,
        )
        lengths = steps if sequence_length is None else tf.cast(sequence_length, tf.int32)
        where = tf.stack([tf.broadcast_to(lengths, [batch]), tf.range(batch)], axis=1)
        # Behind the initial state, so that a sequence of length 0 ends with it.
        last = [
            tf.gather_nd(tf.concat([first[tf.newaxis], values], 0), where)
            for first, values in zip(initial_state, (result.cs, result.h))
        ]
        outputs = result.h
        if sequence_length is not None:
            mask = tf.sequence_mask(sequence_length, steps, inputs.dtype)
            outputs *= tf.expand_dims(tf.transpose(mask), 2)
        return outputs, LSTMStateTuple(*last)
