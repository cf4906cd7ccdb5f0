"""Pictures of bars in TFRecords: written once, then read by queues."""

import os

import numpy as np
import tensorflow as tf

SIZE = 16
CLASSES = 4  # the number of bars


def write(path, count, seed):
    random = np.random.RandomState(seed)
    with tf.python_io.TFRecordWriter(path) as writer:
        for _ in range(count):
            bars = random.randint(CLASSES)
            image = random.randint(60, size=(SIZE, SIZE))
            image[:, random.permutation(SIZE // 2)[:bars] * 2] += 150
            feature = {
                "image": tf.train.Feature(
                    bytes_list=tf.train.BytesList(value=[image.astype(np.uint8).tobytes()])
                ),
                "bars": tf.train.Feature(int64_list=tf.train.Int64List(value=[bars])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())


def read(path, batch_size):
    """One batch of pictures and labels, from a queue that threads keep full."""
    if not os.path.exists(path):
        write(path, count=2000, seed=0)
    names = tf.train.string_input_producer([path])
    _, record = tf.TFRecordReader().read(names)
    parsed = tf.parse_single_example(
        record,
        {
            "image": tf.FixedLenFeature([], tf.string),
            "bars": tf.FixedLenFeature([], tf.int64),
        },
    )
    image = tf.reshape(tf.decode_raw(parsed["image"], tf.uint8), [SIZE, SIZE, 1])
    image = tf.cast(image, tf.float32) / 255.0
    return tf.train.shuffle_batch(
        [image, parsed["bars"]],
        batch_size=batch_size,
        num_threads=2,
        capacity=1000,
        min_after_dequeue=500,
    )
