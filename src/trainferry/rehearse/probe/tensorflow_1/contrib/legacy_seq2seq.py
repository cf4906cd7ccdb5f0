"""`tf.contrib.legacy_seq2seq`: decoders over lists of steps, with and without attention."""

import tensorflow.compat.v1 as tf
from tensorflow.contrib.legacy_seq2seq_loss import (
    sequence_loss,
    sequence_loss_by_example,
)


def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None, scope=None):
    """Run the cell over the inputs; with `loop_function`, feed it what it said before."""
    state = initial_state
    outputs = []
    with tf.variable_scope(scope or "rnn_decoder"):
        for step, given in enumerate(decoder_inputs):
            inputs = _next_input(given, outputs, step, loop_function)
            if step > 0:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(inputs, state)
            outputs.append(output)
    return outputs, state


def basic_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, dtype=tf.float32, scope=None):
    """Encode to a state, and decode from it with weights of its own."""
    import copy

    with tf.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = tf.nn.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def embedding_rnn_decoder(
    decoder_inputs,
    initial_state,
    cell,
    num_symbols,
    embedding_size,
    output_projection=None,
    feed_previous=False,
    update_embedding_for_previous=True,
    scope=None,
):
    """`rnn_decoder` over symbols instead of vectors."""
    with tf.variable_scope(scope or "embedding_rnn_decoder"):
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = _symbol_feeder(
                embedding, output_projection, update_embedding_for_previous
            )
        vectors = [tf.nn.embedding_lookup(embedding, symbol) for symbol in decoder_inputs]
        return rnn_decoder(vectors, initial_state, cell, loop_function=loop_function)


def embedding_attention_decoder(
    decoder_inputs,
    initial_state,
    attention_states,
    cell,
    num_symbols,
    embedding_size,
    num_heads=1,
    output_size=None,
    output_projection=None,
    feed_previous=False,
    update_embedding_for_previous=True,
    dtype=None,
    scope=None,
    initial_state_attention=False,
):
    """`attention_decoder` over symbols instead of vectors."""
    with tf.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = _symbol_feeder(
                embedding, output_projection, update_embedding_for_previous
            )
        return attention_decoder(
            [tf.nn.embedding_lookup(embedding, symbol) for symbol in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size=output_size or cell.output_size,
            num_heads=num_heads,
            loop_function=loop_function,
            initial_state_attention=initial_state_attention,
        )


def attention_decoder(
    decoder_inputs,
    initial_state,
    attention_states,
    cell,
    output_size=None,
    num_heads=1,
    loop_function=None,
    dtype=None,
    scope=None,
    initial_state_attention=False,
):
    """A decoder that looks at `attention_states` [batch, length, size] before each step.

    The attention of Vinyals et al., 2014, https://arxiv.org/abs/1412.7449: a state scores each
    place by v * tanh(W1 * place + W2 * state).
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape[2] is None or attention_states.shape.as_list()[2] is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states}")
    output_size = output_size or cell.output_size
    outputs = []
    state = initial_state
    with tf.variable_scope(scope or "attention_decoder", dtype=dtype) as inner:
        heads = _Heads(attention_states, num_heads, inner.dtype)
        seen = heads.nothing(tf.shape(decoder_inputs[0])[0])
        if initial_state_attention:
            seen = heads.look(state)
        for step, given in enumerate(decoder_inputs):
            if step > 0:
                tf.get_variable_scope().reuse_variables()
            inputs = _next_input(given, outputs, step, loop_function)
            size = inputs.shape.with_rank(2).as_list()[1]
            if size is None:
                raise ValueError(f"Could not infer input size from input: {inputs}")
            output, state = cell(_linear([inputs, *seen], size), state)
            if step == 0 and initial_state_attention:
                with tf.variable_scope(tf.get_variable_scope(), reuse=True):
                    seen = heads.look(state)
            else:
                seen = heads.look(state)
            with tf.variable_scope("AttnOutputProjection"):
                outputs.append(_linear([output, *seen], output_size))
    return outputs, state


class _Heads:
    """The places of the input, and the weights that score them."""

    def __init__(self, states, count, dtype):
        self._length = states.shape.as_list()[1]
        if self._length is None:
            self._length = tf.shape(states)[1]
        self._size = states.shape.as_list()[2]
        self._dtype = dtype
        self._places = tf.reshape(states, [-1, self._length, 1, self._size])
        self._scored = []
        self._weights = []
        for head in range(count):
            kernel = tf.get_variable(f"AttnW_{head}", [1, 1, self._size, self._size], dtype=dtype)
            self._scored.append(tf.nn.conv2d(self._places, kernel, [1, 1, 1, 1], "SAME"))
            self._weights.append(tf.get_variable(f"AttnV_{head}", [self._size], dtype=dtype))

    def nothing(self, batch):
        zeros = [tf.zeros(tf.stack([batch, self._size]), self._dtype) for _ in self._weights]
        for one in zeros:
            one.set_shape([None, self._size])
        return zeros

    def look(self, state):
        """What each head sees from `state`: a sum over the places, [batch, size]."""
        query = tf.concat(tf.nest.flatten(state), 1)
        seen = []
        for head, (scored, weights) in enumerate(zip(self._scored, self._weights)):
            with tf.variable_scope(f"Attention_{head}"):
                asked = tf.reshape(_linear([query], self._size), [-1, 1, 1, self._size])
            scores = tf.reduce_sum(weights * tf.tanh(scored + asked), [2, 3])
            shares = tf.reshape(tf.nn.softmax(scores), [-1, self._length, 1, 1])
            total = tf.reduce_sum(shares * self._places, [1, 2])
            seen.append(tf.reshape(total, [-1, self._size]))
        return seen


def _next_input(given, outputs, step, loop_function):
    if loop_function is None or not outputs:
        return given
    with tf.variable_scope("loop_function", reuse=True):
        return loop_function(outputs[-1], step)


def _symbol_feeder(embedding, output_projection, update_embedding):
    def feed(previous, _):
        if output_projection is not None:
            previous = tf.nn.xw_plus_b(previous, output_projection[0], output_projection[1])
        vector = tf.nn.embedding_lookup(embedding, tf.argmax(previous, 1))
        return vector if update_embedding else tf.stop_gradient(vector)

    return feed


def _linear(values, size):
    joined = values[0] if len(values) == 1 else tf.concat(values, 1)
    kernel = tf.get_variable("kernel", [joined.shape.as_list()[1], size], joined.dtype)
    bias = tf.get_variable("bias", [size], joined.dtype, tf.zeros_initializer())
    return tf.nn.bias_add(tf.matmul(joined, kernel), bias)
