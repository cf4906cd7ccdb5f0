"""Fits a surface on several devices, with Horovod and a monitored session."""

import argparse

import horovod.tensorflow as hvd
import tensorflow as tf

from samples import make_samples


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    args = parser.parse_args()

    hvd.init()
    dataset = tf.data.Dataset.from_tensor_slices(make_samples(320))
    dataset = dataset.shard(hvd.size(), hvd.rank()).repeat().batch(args.batch)
    points, heights = tf.data.make_one_shot_iterator(dataset).get_next()
    net = tf.layers.dense(points, 32, activation=tf.nn.tanh)
    loss = tf.losses.mean_squared_error(heights, tf.layers.dense(net, 1))
    # Not times hvd.size(): the ranks share a batch that stays as large as it was.
    optimizer = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.01))
    global_step = tf.train.get_or_create_global_step()
    train_op = optimizer.minimize(loss, global_step=global_step)

    hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(last_step=20)]
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            sess.run([train_op, loss])


if __name__ == "__main__":
    main()
