"""Trains a counter of bars with slim's own training loop."""

import tensorflow as tf

import records

slim = tf.contrib.slim

tf.app.flags.DEFINE_string("data", "bars.tfrecord", "records; written when they are not there")
tf.app.flags.DEFINE_string("logdir", "run", "folder for checkpoints and summaries")
tf.app.flags.DEFINE_integer("batch_size", 32, "pictures per step")
tf.app.flags.DEFINE_integer("steps", 300, "steps to train")
FLAGS = tf.app.flags.FLAGS


def network(images):
    with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm):
        net = slim.conv2d(images, 16, [3, 3])
        net = slim.max_pool2d(net, [2, 2])
        net = slim.conv2d(net, 32, [3, 3])
    net = tf.reduce_mean(net, axis=[1, 2])
    net = slim.dropout(net, keep_prob=0.9)
    return slim.fully_connected(net, records.CLASSES, activation_fn=None)


def main(_):
    images, labels = records.read(FLAGS.data, FLAGS.batch_size)
    logits = network(images)
    tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = tf.losses.get_total_loss()
    tf.summary.scalar("loss", loss)

    optimizer = tf.train.RMSPropOptimizer(0.005)
    train_op = slim.learning.create_train_op(loss, optimizer, clip_gradient_norm=5.0)
    config = tf.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    final_loss = slim.learning.train(
        train_op,
        FLAGS.logdir,
        number_of_steps=FLAGS.steps,
        log_every_n_steps=50,
        save_interval_secs=600,
        session_config=config,
    )
    print("loss of the last step %.3f" % final_loss)


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
