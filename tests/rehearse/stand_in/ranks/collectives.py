"""Runs every collective on two ranks and checks what each rank gets."""

import numpy as np
import tensorflow as tf

from npu_bridge.npu_init import *


def main():
    opened, shutdown = init_resource()
    rank = get_rank_id()
    mine = tf.constant([[1.0, 2.0], [3.0, 4.0]]) * (rank + 1)
    scalar = tf.constant(1.0 + rank)
    other = 1 - rank
    create_group("both", 2, [0, 1])
    cases = {
        "sum": (hccl_ops.allreduce(mine, "sum"), [[3, 6], [9, 12]]),
        "max": (hccl_ops.allreduce(mine, "max"), [[2, 4], [6, 8]]),
        "min": (hccl_ops.allreduce(mine, "min", group="both"), [[1, 2], [3, 4]]),
        "prod": (hccl_ops.allreduce(mine, "prod"), [[2, 8], [18, 32]]),
        "half": (hccl_ops.allreduce(tf.cast(mine, tf.bfloat16), "sum"), [[3, 6], [9, 12]]),
        "scalar": (hccl_ops.allreduce(scalar, "sum"), 3.0),
        "gather": (hccl_ops.allgather(mine, 2), [[1, 2], [3, 4], [2, 4], [6, 8]]),
        "broadcast": (hccl_ops.broadcast([mine, scalar], 1)[1], 2.0),
        "reduce": (
            hccl_ops.reduce(mine, "sum", 0),
            [[3, 6], [9, 12]] if rank == 0 else [[2, 4], [6, 8]],
        ),
        "scatter": (hccl_ops.reduce_scatter(mine, "sum", 2), [[[3, 6]], [[9, 12]]][rank]),
        "mean": (npu_allreduce(mine), [[1.5, 3], [4.5, 6]]),
        "all": (
            hccl_ops.all_to_all_v(
                tf.reshape(mine, [-1]),
                [1, 3],
                [0, 1],
                [[1, 1], [3, 3]][rank],
                [[0, 1], [0, 3]][rank],
            ),
            [[1, 2], [2, 3, 4, 4, 6, 8]][rank],
        ),
    }
    if rank == 0:
        sent = hccl_ops.send(mine, 7, other)
    else:
        sent = hccl_ops.receive([2, 2], tf.float32, 7, other)
        cases["received"] = (sent, [[1, 2], [3, 4]])
    variable = tf.get_variable("v", initializer=tf.constant(10.0 + rank))
    resource = tf.get_variable("r", initializer=tf.constant([20.0 + rank]), use_resource=True)
    spread = hccl_ops.broadcast([variable, resource], 1)
    x = tf.constant([1.0, 2.0])
    gradient = tf.gradients(hccl_ops.allreduce(x * (rank + 1.0), "sum"), x)[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = sess.run([{name: pair[0] for name, pair in cases.items()}, sent])[0]
        for name, pair in cases.items():
            got = np.asarray(values[name], np.float32)
            np.testing.assert_array_equal(got, pair[1], err_msg=name)
            assert got.shape == np.shape(pair[1]), name
            if name != "all":
                assert pair[0].shape.is_fully_defined(), name
        sess.run(spread)
        assert sess.run([variable, resource[0]]) == [11.0, 21.0]
        np.testing.assert_array_equal(sess.run(gradient), [2.0 * (rank + 1)] * 2)
    print("done")
    shutdown_resource(opened, shutdown)


main()
