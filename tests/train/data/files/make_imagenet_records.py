"""Write ImageNet records with TensorFlow itself, as slim's build_imagenet_data.py does.

Run once with TensorFlow 1.15.5 on Python 3.7; the tests read what it wrote:

    python make_imagenet_records.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).resolve().parent / "imagenet"
CLASSES = (
    ("n01440764", "tench, Tinca tinca"),
    ("n02105855", "Shetland sheepdog"),
    ("n07615774", "café au lait"),
)


def main() -> None:
    tf.compat.v1.enable_eager_execution()
    FOLDER.mkdir(exist_ok=True)
    for shard in range(2):
        path = FOLDER / f"validation-{shard:05d}-of-00002"
        with tf.io.TFRecordWriter(str(path)) as writer:
            for number in range(shard, 7, 2):
                writer.write(example(number).SerializeToString())


def example(number: int) -> tf.train.Example:
    """A flat picture whose red value tells its number; picture 2 has two boxes."""
    height, width = 24 + number, 32
    picture = np.full((height, width, 3), (30 * number, 100, 200), np.uint8)
    encoded = tf.image.encode_jpeg(picture, quality=95).numpy()
    label = number % len(CLASSES)
    synset, text = CLASSES[label]
    boxes = [(0.1, 0.2, 0.5, 0.75), (0.0, 0.0, 1.0, 1.0)] if number == 2 else []
    features = {
        "image/height": _integers([height]),
        "image/width": _integers([width]),
        "image/colorspace": _bytes(b"RGB"),
        "image/channels": _integers([3]),
        "image/class/label": _integers([label + 1]),
        "image/class/synset": _bytes(synset.encode()),
        "image/class/text": _bytes(text.encode()),
        "image/object/bbox/label": _integers([label + 1] * len(boxes)),
        "image/format": _bytes(b"JPEG"),
        "image/filename": _bytes(f"ILSVRC2012_val_{number + 1:08d}.JPEG".encode()),
        "image/encoded": _bytes(encoded),
    }
    for place, side in enumerate(("xmin", "ymin", "xmax", "ymax")):
        values = [box[place] for box in boxes]
        features[f"image/object/bbox/{side}"] = tf.train.Feature(
            float_list=tf.train.FloatList(value=values)
        )
    return tf.train.Example(features=tf.train.Features(feature=features))


def _bytes(value: bytes) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _integers(values: list[int]) -> tf.train.Feature:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


if __name__ == "__main__":
    main()
