"""Ranks that do not agree, each in its own way."""

import sys

import tensorflow as tf

from npu_bridge.npu_init import *


def other_shape(rank):
    return hccl_ops.allreduce(tf.zeros([2 + rank]), "sum")


def other_dtype(rank):
    return hccl_ops.allreduce(tf.zeros([2], [tf.float32, tf.int32][rank]), "sum")


def other_reduction(rank):
    return hccl_ops.allreduce(tf.zeros([2]), ["sum", "max"][rank])


def other_root(rank):
    return hccl_ops.broadcast([tf.zeros([2])], rank)


def rank_zero_alone(rank):
    if rank == 0:
        return hccl_ops.allreduce(tf.zeros([2]), "sum")
    return tf.zeros([2])


def more_on_rank_one(rank):
    total = hccl_ops.allreduce(tf.zeros([2]), "sum")
    if rank == 1:
        total += hccl_ops.allreduce(tf.ones([2]), "max")
    return total


def never_received(rank):
    if rank == 0:
        return hccl_ops.send(tf.zeros([2]), 1, 1)
    return hccl_ops.receive([2], tf.float32, 2, 0)


def main(name):
    init_resource()
    fetch = globals()[name](get_rank_id())
    with tf.Session() as sess:
        sess.run(fetch)


main(*sys.argv[1:])
