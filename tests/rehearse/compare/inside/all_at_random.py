"""Draws wherever a project can; as migrated, with other operators and scopes in between."""

import random
import sys

import numpy as np
import tensorflow as tf

MIGRATED = sys.argv[1] == "migrated"


def numbers():
    while True:
        yield np.random.normal(size=[8, 8, 3]).astype(np.float32), random.randint(0, 3)


def distort(image):
    return (image + np.random.normal() * random.random()).astype(np.float32)


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, 0.2)
    image = tf.random_crop(image, [6, 6, 3])
    image = tf.py_func(distort, [image], tf.float32)
    image.set_shape([6, 6, 3])
    return image, label


def batches():
    shapes = ((8, 8, 3), ())
    dataset = tf.data.Dataset.from_generator(numbers, (tf.float32, tf.int32), shapes)
    dataset = dataset.shuffle(20).map(augment, num_parallel_calls=4).prefetch(8)
    return dataset.batch(4, drop_remainder=MIGRATED).make_one_shot_iterator().get_next()


def dropped(net):
    if not MIGRATED:
        return tf.nn.dropout(net, rate=0.5)
    from npu_bridge.estimator import npu_ops

    with tf.name_scope("on_npu"):
        return npu_ops.dropout(net, keep_prob=0.5)


def repeated(net):
    """A loop whose every turn draws."""
    _, net = tf.while_loop(
        lambda turn, _: turn < 4,
        lambda turn, value: (turn + 1, tf.nn.dropout(value, rate=0.1)),
        [tf.constant(0), net],
    )
    return net


def main():
    images, labels = batches()
    if MIGRATED:
        for value in range(7):
            tf.constant(value)
    net = tf.layers.dense(tf.reshape(images, [4, 108]), 16, activation=tf.tanh)
    net = tf.layers.dense(dropped(net), 8, kernel_initializer=tf.orthogonal_initializer())
    net = repeated(dropped(net)) + tf.random_normal([4, 8], stddev=0.1)
    logits = tf.layers.dense(net, 4)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        while True:
            session.run([train, loss])


main()
