"""Read ImageNet records with TensorFlow itself, as slim does, and decode every picture.

Works with TensorFlow 1.15 and 2.x, to see that they can read what `trainferry data` writes:

    python read_imagenet_records.py 'FOLDER/train-*-of-?????'

Prints file name, label, wnid, class name, size and number of boxes of every record.
"""

from __future__ import annotations

import glob
import sys

import tensorflow as tf

TEXTS = ("encoded", "format", "colorspace", "class/synset", "class/text", "filename")
NUMBERS = ("height", "width", "channels", "class/label")
FEATURES = {
    **{f"image/{name}": tf.io.FixedLenFeature([], tf.string) for name in TEXTS},
    **{f"image/{name}": tf.io.FixedLenFeature([], tf.int64) for name in NUMBERS},
    **{
        f"image/object/bbox/{side}": tf.io.VarLenFeature(tf.float32)
        for side in ("xmin", "ymin", "xmax", "ymax")
    },
    "image/object/bbox/label": tf.io.VarLenFeature(tf.int64),
}


def main() -> None:
    tf.compat.v1.enable_eager_execution()
    for record in tf.data.TFRecordDataset(sorted(glob.glob(sys.argv[1]))):  # noqa: PTH207 - a pattern with its folder
        example = tf.io.parse_single_example(record, FEATURES)
        picture = tf.image.decode_jpeg(example["image/encoded"], channels=3)
        size = [int(example["image/height"]), int(example["image/width"]), 3]
        if picture.shape.as_list() != size:
            raise SystemExit(f"{picture.shape} is not {size}")
        names = ("image/filename", "image/class/synset", "image/class/text")
        name, wnid, text = (example[key].numpy().decode() for key in names)
        boxes = len(example["image/object/bbox/xmin"].values)
        label = int(example["image/class/label"])
        sys.stdout.write(f"{name}\t{label}\t{wnid}\t{text}\t{size[1]}x{size[0]}\t{boxes}\n")


if __name__ == "__main__":
    main()
