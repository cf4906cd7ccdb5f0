"""Trains a classifier of two spirals on several GPUs with Horovod."""

import argparse

import horovod.tensorflow as hvd
import tensorflow as tf

from spirals import scatter


def input_batches(batch_size):
    dataset = tf.data.Dataset.from_tensor_slices(scatter(8000, seed=0))
    dataset = dataset.shard(hvd.size(), hvd.rank())
    dataset = dataset.shuffle(8000).repeat().batch(batch_size)
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

    hvd.init()
    points, labels = input_batches(args.batch_size)
    logits = network(points)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    hits = tf.equal(tf.argmax(logits, 1, output_type=tf.int32), labels)
    accuracy = tf.reduce_mean(tf.cast(hits, tf.float32))

    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdamOptimizer(0.003 * hvd.size())
    optimizer = hvd.DistributedOptimizer(optimizer)
    train_op = optimizer.minimize(loss, global_step=global_step)

    hooks = [
        hvd.BroadcastGlobalVariablesHook(0),
        tf.train.StopAtStepHook(last_step=args.steps // hvd.size()),
    ]
    if hvd.rank() == 0:
        values = {"step": global_step, "loss": loss, "accuracy": accuracy}
        hooks.append(tf.train.LoggingTensorHook(values, every_n_iter=100))

    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    config.gpu_options.visible_device_list = str(hvd.local_rank())
    checkpoint_dir = args.checkpoints if hvd.rank() == 0 else None
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=checkpoint_dir, hooks=hooks, config=config
    ) as sess:
        while not sess.should_stop():
            _, score = sess.run([train_op, accuracy])
    if hvd.rank() == 0:
        print("accuracy of the last batch %.3f" % score)


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    main()
