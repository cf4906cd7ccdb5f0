"""Write from_tensorflow.tfrecords with TensorFlow itself.

Run once with TensorFlow 1.15.5 on Python 3.7; the tests read what it wrote:

    python make_with_tensorflow.py
"""

from __future__ import annotations

from pathlib import Path

import tensorflow as tf

FOLDER = Path(__file__).resolve().parent


def main() -> None:
    features = tf.train.Features(
        feature={
            "text": _bytes([b"Ferry", "zür".encode()]),
            "numbers": tf.train.Feature(
                int64_list=tf.train.Int64List(value=[0, 1, 127, 128, 300, -1, 2**63 - 1, -(2**63)])
            ),
            "floats": tf.train.Feature(float_list=tf.train.FloatList(value=[0.0, -1.5, 2.5e9])),
            "empty": tf.train.Feature(int64_list=tf.train.Int64List(value=[])),
            "nothing": tf.train.Feature(),
            "image/encoded": _bytes([bytes(range(256)) * 2]),
            "image/text": _bytes([b"Word"]),
        }
    )
    with tf.io.TFRecordWriter(str(FOLDER / "from_tensorflow.tfrecords")) as writer:
        writer.write(tf.train.Example(features=features).SerializeToString())
        writer.write(b"")
        writer.write(b"plain bytes")


def _bytes(values: list[bytes]) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


if __name__ == "__main__":
    main()
