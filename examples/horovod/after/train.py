"""Trains a classifier of two spirals on several GPUs with Horovod."""

import argparse

import tensorflow as tf
import atexit
from npu_bridge.estimator.npu.npu_hook import NPUBroadcastGlobalVariablesHook
from npu_bridge.estimator.npu.npu_optimizer import npu_distributed_optimizer_wrapper
from npu_bridge.npu_init import close_session
from npu_bridge.npu_init import get_npu_rank_id
from npu_bridge.npu_init import get_npu_rank_size
from npu_bridge.npu_init import init_resource
from npu_bridge.npu_init import npu_config_proto
from npu_bridge.npu_init import shutdown_resource

from spirals import scatter


def input_batches(batch_size):
    dataset = tf.data.Dataset.from_tensor_slices(scatter(8000, seed=0))
    dataset = dataset.shard(get_npu_rank_size(), get_npu_rank_id())
    dataset = dataset.shuffle(8000).repeat().batch(batch_size, drop_remainder=True)
    return tf.data.make_one_shot_iterator(dataset).get_next()


def network(points):
    net = tf.layers.dense(points, 64, activation=tf.nn.tanh)
    net = tf.layers.dense(net, 64, activation=tf.nn.tanh)
    return tf.layers.dense(net, 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--checkpoints", default="checkpoints")
    args = parser.parse_args()

    npu_session, npu_shutdown = init_resource()
    atexit.register(close_session, npu_session)
    atexit.register(shutdown_resource, npu_session, npu_shutdown)
    points, labels = input_batches(args.batch_size)
    logits = network(points)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    hits = tf.equal(tf.argmax(logits, 1, output_type=tf.int32), labels)
    accuracy = tf.reduce_mean(tf.cast(hits, tf.float32))

    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdamOptimizer(0.003 * get_npu_rank_size())
    optimizer = npu_distributed_optimizer_wrapper(optimizer)
    train_op = optimizer.minimize(loss, global_step=global_step)

    hooks = [
        NPUBroadcastGlobalVariablesHook(0, get_npu_rank_id()),
        tf.train.StopAtStepHook(last_step=args.steps // get_npu_rank_size()),
    ]
    if get_npu_rank_id() == 0:
        values = {"step": global_step, "loss": loss, "accuracy": accuracy}
        hooks.append(tf.train.LoggingTensorHook(values, every_n_iter=100))

    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    checkpoint_dir = args.checkpoints if get_npu_rank_id() == 0 else None
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=checkpoint_dir, hooks=hooks, config=npu_config_proto(config_proto=config)
    ) as sess:
        while not sess.should_stop():
            _, score = sess.run([train_op, accuracy])
    if get_npu_rank_id() == 0:
        print("accuracy of the last batch %.3f" % score)


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    main()
