"""`tf.contrib.rnn`: the cells that TensorFlow still has, and the missing ones that projects use."""

import tensorflow.compat.v1 as tf
from tensorflow.contrib.rnn_blocks import LSTMBlockCell, LSTMBlockFusedCell
from tensorflow.contrib.rnn_cells import (
    InputProjectionWrapper,
    LayerNormBasicLSTMCell,
    OutputProjectionWrapper,
)

BasicLSTMCell = tf.nn.rnn_cell.BasicLSTMCell
BasicRNNCell = tf.nn.rnn_cell.BasicRNNCell
DeviceWrapper = tf.nn.rnn_cell.DeviceWrapper
DropoutWrapper = tf.nn.rnn_cell.DropoutWrapper
GRUCell = tf.nn.rnn_cell.GRUCell
LSTMCell = tf.nn.rnn_cell.LSTMCell
LSTMStateTuple = tf.nn.rnn_cell.LSTMStateTuple
MultiRNNCell = tf.nn.rnn_cell.MultiRNNCell
RNNCell = tf.nn.rnn_cell.RNNCell
ResidualWrapper = tf.nn.rnn_cell.ResidualWrapper
static_bidirectional_rnn = tf.nn.static_bidirectional_rnn
static_rnn = tf.nn.static_rnn
static_state_saving_rnn = tf.nn.static_state_saving_rnn


def transpose_batch_time(x):
    """Exchange the first two dimensions, known or not."""
    shape = x.shape
    if shape.rank is not None and shape.rank < 2:
        raise ValueError(f"Expected input tensor {x} to have rank at least 2")
    others = tf.range(2, tf.rank(x))
    result = tf.transpose(x, tf.concat([[1, 0], others], axis=0))
    if shape.rank is not None:
        result.set_shape([shape[1], shape[0], *shape.as_list()[2:]])
    return result


def stack_bidirectional_dynamic_rnn(
    cells_fw,
    cells_bw,
    inputs,
    initial_states_fw=None,
    initial_states_bw=None,
    dtype=None,
    sequence_length=None,
    parallel_iterations=None,
    time_major=False,
    scope=None,
    swap_memory=False,
):
    """Bidirectional layers, each reading both directions of the one below, joined."""
    _check_stack(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw = [], []
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw)):
            with tf.variable_scope(f"cell_{number}"):
                outputs, (state_fw, state_bw) = tf.nn.bidirectional_dynamic_rnn(
                    cell_fw,
                    cell_bw,
                    inputs,
                    initial_state_fw=initial_states_fw[number] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[number] if initial_states_bw else None,
                    sequence_length=sequence_length,
                    parallel_iterations=parallel_iterations,
                    dtype=dtype,
                    swap_memory=swap_memory,
                    time_major=time_major,
                )
                inputs = tf.concat(outputs, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)


def stack_bidirectional_rnn(
    cells_fw,
    cells_bw,
    inputs,
    initial_states_fw=None,
    initial_states_bw=None,
    dtype=None,
    sequence_length=None,
    scope=None,
):
    """The same for a list of time steps."""
    _check_stack(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw = [], []
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw)):
            with tf.variable_scope(f"cell_{number}") as cell_scope:
                inputs, state_fw, state_bw = tf.nn.static_bidirectional_rnn(
                    cell_fw,
                    cell_bw,
                    inputs,
                    initial_state_fw=initial_states_fw[number] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[number] if initial_states_bw else None,
                    sequence_length=sequence_length,
                    dtype=dtype,
                    scope=cell_scope,
                )
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)


def _check_stack(cells_fw, cells_bw, initial_states_fw, initial_states_bw):
    for name, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not isinstance(cells, list) or not cells:
            raise ValueError(name + " must be a list of at least one cell")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("cells_fw and cells_bw must be of the same length")
    for name, states in (
        ("initial_states_fw", initial_states_fw),
        ("initial_states_bw", initial_states_bw),
    ):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(name + " must be a list with one state per layer")
