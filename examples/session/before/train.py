"""Trains a classifier of circles and squares with a session and a loop of its own."""

import os

import numpy as np
import tensorflow as tf

tf.app.flags.DEFINE_string("run_dir", "run", "folder for checkpoints")
tf.app.flags.DEFINE_integer("batch_size", 32, "pictures per step")
tf.app.flags.DEFINE_integer("epochs", 5, "times to see every picture")
FLAGS = tf.app.flags.FLAGS

SIZE = 20


def draw(count, seed):
    """Filled circles (0) and squares (1) somewhere in a noisy picture."""
    random = np.random.RandomState(seed)
    labels = random.randint(2, size=count)
    centres = random.uniform(7, SIZE - 7, (2, count, 1, 1))
    y, x = np.mgrid[:SIZE, :SIZE]
    dy, dx = np.abs(y - centres[0]), np.abs(x - centres[1])
    circles, squares = dy ** 2 + dx ** 2 < 36, np.maximum(dy, dx) < 5.3
    images = np.where(labels[:, None, None] == 0, circles, squares)
    images = images + random.normal(0, 0.2, images.shape)
    return images[..., None].astype(np.float32), labels.astype(np.int32)


def network(images, keep_prob):
    net = tf.layers.conv2d(images, 16, 5, strides=2, activation=tf.nn.relu)
    net = tf.layers.conv2d(net, 32, 3, activation=tf.nn.relu)
    net = tf.layers.dense(tf.layers.flatten(net), 64, activation=tf.nn.relu)
    net = tf.nn.dropout(net, keep_prob)
    return tf.layers.dense(net, 2)


def build_train_op(loss, global_step):
    optimizer = tf.train.MomentumOptimizer(0.02, 0.9)
    manager = tf.contrib.mixed_precision.ExponentialUpdateLossScaleManager(
        init_loss_scale=2 ** 10, incr_every_n_steps=100
    )
    optimizer = tf.contrib.mixed_precision.LossScaleOptimizer(optimizer, manager)
    return optimizer.minimize(loss, global_step=global_step)


def main(_):
    train_images, train_labels = draw(1990, seed=0)
    images = tf.placeholder(tf.float32, [None, SIZE, SIZE, 1])
    labels = tf.placeholder(tf.int32, [None])
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    dataset = dataset.shuffle(2000).batch(FLAGS.batch_size)
    iterator = dataset.make_initializable_iterator()
    batch_images, batch_labels = iterator.get_next()

    with tf.variable_scope("network"):
        logits = network(batch_images, keep_prob=0.8)
    loss = tf.losses.sparse_softmax_cross_entropy(batch_labels, logits)
    global_step = tf.train.get_or_create_global_step()
    train_op = build_train_op(loss, global_step)

    test_images, test_labels = draw(500, seed=1)
    with tf.variable_scope("network", reuse=True):
        test_logits = network(tf.constant(test_images), keep_prob=1.0)
    hits = tf.equal(tf.argmax(test_logits, 1, output_type=tf.int32), test_labels)
    accuracy = tf.reduce_mean(tf.cast(hits, tf.float32))

    config = tf.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    config.gpu_options.per_process_gpu_memory_fraction = 0.9
    saver = tf.train.Saver(max_to_keep=2)
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        for epoch in range(FLAGS.epochs):
            sess.run(iterator.initializer, {images: train_images, labels: train_labels})
            while True:
                try:
                    _, value, step = sess.run([train_op, loss, global_step])
                except tf.errors.OutOfRangeError:
                    break
            print("epoch %d, step %d: loss %.3f" % (epoch, step, value))
            saver.save(sess, os.path.join(FLAGS.run_dir, "model.ckpt"), global_step)
        print("accuracy %.3f" % sess.run(accuracy))


if __name__ == "__main__":
    tf.app.run()
