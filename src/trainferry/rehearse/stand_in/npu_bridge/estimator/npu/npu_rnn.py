"""Stands in for the recurrent network that is unrolled on the device."""

import tensorflow as tf


def npu_dynamic_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """Run `cell` along the first dimension, unrolled; the outputs are stacked again."""
    outputs, state = tf.nn.static_rnn(
        cell,
        tf.unstack(inputs, axis=0),
        initial_state=initial_state,
        dtype=dtype,
        sequence_length=sequence_length,
        scope=scope,
    )
    return tf.stack(outputs, axis=0), state
