"""Fits a surface on several devices, with an Estimator."""

import argparse

import tensorflow as tf
from npu_bridge.estimator.npu.npu_config import NPURunConfig
from npu_bridge.estimator.npu.npu_estimator import NPUEstimator
from npu_bridge.estimator.npu.npu_optimizer import NPUDistributedOptimizer
from npu_bridge.npu_init import close_session
from npu_bridge.npu_init import get_npu_rank_id
from npu_bridge.npu_init import get_npu_rank_size
from npu_bridge.npu_init import init_resource
from npu_bridge.npu_init import shutdown_resource

from samples import make_samples


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 32, activation=tf.nn.tanh)
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(net, 1))
    optimizer = NPUDistributedOptimizer(tf.train.AdamOptimizer(0.01))
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    args = parser.parse_args()

    npu_session, npu_shutdown = init_resource()

    def input_fn():
        dataset = tf.data.Dataset.from_tensor_slices(make_samples(320))
        dataset = dataset.shard(get_npu_rank_size(), get_npu_rank_id())
        return dataset.repeat().batch(args.batch, drop_remainder=True)

    config = NPURunConfig(model_dir="surface%d" % get_npu_rank_id(), save_checkpoints_steps=20)
    NPUEstimator(model_fn, config=config).train(input_fn, max_steps=20)
    shutdown_resource(npu_session, npu_shutdown)
    close_session(npu_session)


if __name__ == "__main__":
    main()
