"""Fits a surface on several devices, with a session and a loop of its own."""

import argparse

import tensorflow as tf
from npu_bridge.estimator.npu.npu_optimizer import npu_distributed_optimizer_wrapper
from npu_bridge.hccl import hccl_ops
from npu_bridge.npu_init import close_session
from npu_bridge.npu_init import get_npu_rank_id
from npu_bridge.npu_init import get_npu_rank_size
from npu_bridge.npu_init import init_resource
from npu_bridge.npu_init import npu_config_proto
from npu_bridge.npu_init import shutdown_resource

from samples import make_samples


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    args = parser.parse_args()

    npu_session, npu_shutdown = init_resource()
    dataset = tf.data.Dataset.from_tensor_slices(make_samples(320))
    dataset = dataset.shard(get_npu_rank_size(), get_npu_rank_id())
    dataset = dataset.repeat().batch(args.batch, drop_remainder=True)
    points, heights = tf.data.make_one_shot_iterator(dataset).get_next()
    net = tf.layers.dense(points, 32, activation=tf.nn.tanh)
    loss = tf.losses.mean_squared_error(heights, tf.layers.dense(net, 1))
    optimizer = npu_distributed_optimizer_wrapper(tf.train.MomentumOptimizer(0.05, 0.9))
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    start_alike = hccl_ops.broadcast(tf.trainable_variables(), 0)

    with tf.Session(config=npu_config_proto()) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(start_alike)
        for _ in range(20):
            sess.run([train_op, loss])
    shutdown_resource(npu_session, npu_shutdown)
    close_session(npu_session)


if __name__ == "__main__":
    main()
