"""Stands in for constants that are read from a file."""

import numpy as np
import tensorflow as tf

from trainferry_stand_in.calls import mark
from trainferry_stand_in.errors import RefusedValue, only_on_device


def file_constant(shape, dtype, file_path=None, file_id=None, name=None):
    """The raw numbers of a file as a constant."""
    if file_path is None:
        if file_id is None:
            raise RefusedValue("file_constant needs `file_path` or `file_id`")
        only_on_device("file_constant with `file_id`", "the session's options name the file")
    values = np.fromfile(file_path, dtype=tf.as_dtype(dtype).as_numpy_dtype)
    shape = tf.TensorShape(shape).as_list()
    if values.size != int(np.prod(shape, dtype=np.int64)):
        raise RefusedValue(f"{file_path} holds {values.size} numbers, not {shape}")
    return mark(tf.constant(values.reshape(shape), name=name or "FileConstant"), "FileConstant")
