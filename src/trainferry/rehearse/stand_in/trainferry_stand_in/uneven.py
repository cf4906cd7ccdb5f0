"""Pieces of uneven size from each rank to each rank."""

import numpy as np
import tensorflow as tf

from trainferry_stand_in import exchange, state
from trainferry_stand_in.calls import on_host
from trainferry_stand_in.errors import RefusedValue


def exchange_counts(call, data, counts):
    """What all ranks sent to this one; counts and displacements are elements, not bytes."""
    counts = [tf.convert_to_tensor(count, dtype=tf.int64) for count in counts]
    carried = tf.cast(data, tf.float32) if data.dtype == tf.bfloat16 else data
    (result,) = on_host(
        call,
        lambda values, *numbers: _exchange(call, values, numbers),
        [carried, *counts],
        [carried.dtype],
        [[None]],
    )
    return tf.cast(result, data.dtype)


def _exchange(call, values, numbers):
    send_counts, send_starts, take_counts, take_starts = numbers
    flat = np.reshape(values, [-1])
    pieces = exchange.gather_uneven(call, np.concatenate([flat]))
    plans = exchange.gather_uneven(call, np.stack([send_counts, send_starts]))
    me = state.rank_in(call.group)
    size = int(max(starts + counts for starts, counts in zip(take_starts, take_counts)))
    taken = np.zeros([size], flat.dtype)
    for rank, (piece, (sizes, starts)) in enumerate(zip(pieces, plans)):
        if sizes[me] != take_counts[rank]:
            raise RefusedValue(
                f"rank {rank} sends {sizes[me]} elements to rank {me}, which awaits "
                f"{take_counts[rank]}; "
                "the device would read wrong data or hang"
            )
        start = take_starts[rank]
        taken[start : start + sizes[me]] = piece[starts[me] : starts[me] + sizes[me]]
    return taken
