"""Makes the checkpoints in this folder; run with TensorFlow 1.15.5, Python 3.7.

    python make_files.py

What each holds is told in test_bundle.py and test_load.py, which read them without TensorFlow.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

CHANNELS = (2, 3, 2, 2, 3, 2, 4)
HIDDEN, CLASSES = 2, 5


def every_type() -> None:
    numbers = np.array([[-2.5, 0.0, 1.0], [3.14159, 65504.0, -0.0]])
    for name in ("float16", "float32", "float64"):
        tf.get_variable(name, initializer=numbers.astype(name))
    tf.get_variable("bfloat16", initializer=tf.cast(tf.constant(numbers, tf.float32), tf.bfloat16))
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16"):
        limits = np.iinfo(name)
        tf.get_variable(name, initializer=np.array([limits.min, 0, limits.max], name))
    tf.get_variable("bool", initializer=np.array([True, False, True]))
    for name in ("complex64", "complex128"):
        tf.get_variable(name, initializer=np.array([1 + 2j, -3.5j], name))
    texts = [[b"", b"one"], [b"\x00\xff", "zwölf".encode()], [b"x" * 200, b"end"]]
    tf.get_variable("strings", initializer=tf.constant(texts))
    tf.get_variable("scalar", initializer=np.int64(1234567890123))
    tf.get_variable("empty", initializer=np.zeros((0, 3), np.float32))
    save("every_type/model.ckpt-7")


def partitioned() -> None:
    values = np.arange(200 * 7, dtype=np.float32).reshape(200, 7)
    with tf.variable_scope("rows", partitioner=tf.fixed_size_partitioner(3, axis=0)):
        tf.get_variable("table", shape=(200, 7), initializer=counting)
    with tf.variable_scope("columns", partitioner=tf.fixed_size_partitioner(2, axis=1)):
        tf.get_variable("table", shape=(4, 6), initializer=counting)
    tf.get_variable("whole", initializer=values[:2])
    save("partitioned/model.ckpt")


def counting(shape: Any, partition_info: Any, **_: Any) -> Any:
    """The values of an array that counts up, for whichever part is asked for."""
    full = partition_info.full_shape
    starts = partition_info.var_offset
    place = tuple(slice(starts[d], starts[d] + shape[d]) for d in range(len(shape)))
    return tf.constant(np.arange(np.prod(full), dtype=np.float32).reshape(full)[place])


def sharded() -> None:
    for number in range(3):
        with tf.device(f"/job:worker/task:{number}"):
            tf.get_variable(f"on_{number}", initializer=np.full((number + 1,), number, np.float32))
    cluster = {"worker": [f"localhost:{2300 + n}" for n in range(3)]}
    servers = [tf.train.Server(cluster, job_name="worker", task_index=n) for n in range(3)]
    save("sharded/model.ckpt-3", target=servers[0].target, sharded=True)


def old_format() -> None:
    """Types, parts and long values as the old format keeps them: one file, a table of messages."""
    numbers = np.array([[-2.5, 0.0, 1.0], [3.14159, 65504.0, -0.0]])
    for name in ("float16", "float32", "float64"):
        tf.get_variable(name, initializer=numbers.astype(name))
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16"):
        limits = np.iinfo(name)
        tf.get_variable(name, initializer=np.array([limits.min, 0, limits.max], name))
    tf.get_variable("bool", initializer=np.array([True, False, True]))
    for name in ("complex64", "complex128"):
        tf.get_variable(name, initializer=np.array([1 + 2j, -3.5j], name))
    tf.get_variable("strings", initializer=tf.constant([b"", b"one", b"\x00\xff"]))
    tf.get_variable("scalar", initializer=np.int64(1234567890123))
    with tf.variable_scope("columns", partitioner=tf.fixed_size_partitioner(2, axis=1)):
        tf.get_variable("table", shape=(40, 6), initializer=counting)
    save("old_format/model.ckpt", write_version=tf.train.SaverDef.V1)


def old_format_sharded() -> None:
    for number in range(2):
        with tf.device(f"/job:worker/task:{number}"):
            tf.get_variable(f"on_{number}", initializer=np.full((number + 1,), number, np.float32))
    cluster = {"worker": [f"localhost:{2310 + n}" for n in range(2)]}
    servers = [tf.train.Server(cluster, job_name="worker", task_index=n) for n in range(2)]
    target, version = servers[0].target, tf.train.SaverDef.V1
    save("old_format_sharded/model.ckpt", target=target, sharded=True, write_version=version)


def crnn_with_stock_cells() -> None:
    build_convolutions()
    with tf.variable_scope("shadow_net/sequence_rnn_module"):
        cells = [tf.nn.rnn_cell.LSTMCell(HIDDEN) for _ in range(4)]
        tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
            cells[:2], cells[2:], tf.zeros([1, 3, CHANNELS[-1]]), dtype=tf.float32
        )
        random_variable("w", (2 * HIDDEN, CLASSES))
    step = tf.train.get_or_create_global_step()
    train(step)
    save("crnn_stock_cells/shadownet.ckpt-2", steps=2)


def crnn_with_fused_cells() -> None:
    """The names of the fused NPU operator, which stock TensorFlow has not."""
    build_convolutions()
    with tf.variable_scope("shadow_net/sequence_rnn_module"):
        for number, inputs in enumerate((CHANNELS[-1], CHANNELS[-1], 2 * HIDDEN, 2 * HIDDEN)):
            scope = f"dynamic_rnn_{number}" if number else "dynamic_rnn"
            with tf.variable_scope(scope):
                random_variable("dynamicrnn/w", (inputs + HIDDEN, 4 * HIDDEN))
                random_variable("dynamicrnn/b", (4 * HIDDEN,))
                length = np.full((64,), 25, np.int32)
                tf.get_variable("dynamicbase/seq_length", initializer=length, trainable=False)
        random_variable("w", (2 * HIDDEN, CLASSES))
    tf.get_variable("loss_scale", initializer=np.float32(2.0**20), trainable=False)
    tf.get_variable("good_steps", initializer=np.int32(17), trainable=False)
    tf.get_variable("bad_steps", initializer=np.int32(1), trainable=False)
    step = tf.train.get_or_create_global_step()
    train(step)
    save("crnn_fused_cells/shadownet.ckpt-2", steps=2)


def build_convolutions() -> None:
    sizes = (3, *CHANNELS)
    with tf.variable_scope("shadow_net/feature_extraction_module"):
        for number, after in enumerate(CHANNELS, start=1):
            before = sizes[number - 1]
            size = 2 if number == 7 else 3
            kernel = f"conv{number}/conv" if number < 3 else f"conv{number}"
            norm = f"conv{number}/bn" if number < 3 else f"bn{number}"
            random_variable(kernel + "/W", (size, size, before, after))
            if number < 3:
                random_variable(kernel + "/b", (after,))
            for name in ("gamma", "beta", "moving_mean", "moving_variance"):
                trainable = not name.startswith("moving")
                random_variable(norm + "/" + name, (after,), trainable=trainable)


def random_variable(name: str, shape: tuple[int, ...], trainable: bool = True) -> None:
    tf.get_variable(name, shape, initializer=tf.random_normal_initializer(), trainable=trainable)


def train(step: Any) -> None:
    loss = tf.add_n([tf.reduce_sum(tf.square(v)) for v in tf.trainable_variables()])
    optimizer = tf.train.MomentumOptimizer(0.01, 0.9)
    tf.add_to_collection("train", optimizer.minimize(loss, global_step=step))


def save(name: str, steps: int = 0, target: str = "", **options: Any) -> None:
    Path(name).parent.mkdir(exist_ok=True)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(tf.get_collection("train"))
        tf.train.Saver(**options).save(session, name, write_meta_graph=False)


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parent)  # the `checkpoint` files then hold relative paths
    for make in (
        every_type,
        partitioned,
        sharded,
        old_format,
        old_format_sharded,
        crnn_with_stock_cells,
        crnn_with_fused_cells,
    ):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            make()
