"""Write photo_golden.npz with TensorFlow itself: resized, cut and drawn as the originals do.

Run once with TensorFlow 1.15.5 on Python 3.7; the tests compare with what it wrote:

    python make_photo_golden.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).resolve().parent
RESIZED = [
    *((5, 7, 11, 13), (37, 53, 12, 17), (8, 6, 8, 6), (61, 17, 16, 16), (9, 9, 1, 1)),
    *((1, 1, 4, 5), (100, 75, 12, 16), (300, 2, 7, 5), (31, 29, 14, 23)),
]
EVALUATED = [(300, 413), (107, 160), (480, 321)]
BOXED = [(375, 500), (500, 375), (256, 341), (60, 400), (1200, 1600), (5000, 4000), (9, 7)]
DRAWS = 210


def main() -> None:
    with tf.Session() as session:
        values: dict[str, Any] = {
            **_resized(session),
            **_evaluated(session),
            **_sizes(session),
            **_boxes(session),
        }
    np.savez_compressed(FOLDER / "photo_golden.npz", **values)


def synthetic(height: int, width: int) -> np.ndarray:
    """Colours by a formula, so that the tests have the same picture."""
    y, x, c = np.ogrid[:height, :width, :3]
    return ((y * 7 + x * 13 + c * 31 + x * y // 5) % 256).astype(np.uint8)


def objects(draw: int) -> np.ndarray:
    """None to two boxes, ymin, xmin, ymax, xmax; every fifth draw has small ones."""
    step = 2 if draw % 5 == 0 else 16
    lows = [((draw * 5 + k * 11) % 16, (draw * 3 + k * 7) % 16) for k in range(draw % 3)]
    boxes = [(y, x, y + step, x + step) for y, x in lows]
    return np.array(boxes, np.float32).reshape(1, -1, 4) / 32


def _resize(image: tf.Tensor, height: int, width: int) -> tf.Tensor:
    return tf.image.resize_images(
        image, [height, width], method=tf.image.ResizeMethod.BILINEAR, align_corners=False
    )


def _resized(session: tf.Session) -> dict[str, np.ndarray]:
    values = {}
    for height, width, high, wide in RESIZED:
        image = _resize(tf.constant(synthetic(height, width)), high, wide)
        key = f"resized_{height}_{width}_{high}_{wide}"
        values[key] = session.run(tf.cast(image, tf.float32))
    return values


def _smallest_at_least(height: tf.Tensor, width: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    height, width = tf.cast(height, tf.float32), tf.cast(width, tf.float32)
    ratio = tf.cast(256, tf.float32) / tf.minimum(height, width)
    return tf.cast(height * ratio, tf.int32), tf.cast(width * ratio, tf.int32)


def _evaluated(session: tf.Session) -> dict[str, np.ndarray]:
    values = {}
    for height, width in EVALUATED:
        image = tf.constant(synthetic(height, width))
        high, wide = session.run(_smallest_at_least(height, width))
        top, left = (high - 224) // 2, (wide - 224) // 2
        short = tf.slice(_resize(image, high, wide), [top, left, 0], [224, 224, -1])
        squash = tf.image.central_crop(_resize(image, 256, 256), 0.875)
        values[f"short_side_{height}_{width}"] = session.run(short)[::31, ::31]
        values[f"squash_{height}_{width}"] = session.run(squash)[::31, ::31]
    return values


def _sizes(session: tf.Session) -> dict[str, np.ndarray]:
    short = np.arange(100, 1201, dtype=np.int32)
    long = np.stack([short * 4 // 3, short * 3 // 2])
    high, wide = session.run(_smallest_at_least(tf.constant(short), tf.constant(long)))
    return {"short_sizes": high[0].astype(np.int16), "long_sizes": wide.astype(np.int16)}


def _boxes(session: tf.Session) -> dict[str, np.ndarray]:
    """Draw with the settings of ResNet, and of DenseNet; draw n starts n * attempts later."""
    size, boxes = tf.placeholder(tf.int32, [3]), tf.placeholder(tf.float32, [1, None, 4])
    settings = [(7, 1.33, 0.05, 100), (8, 1.333, 0.08, 10)]
    drawn = [
        tf.raw_ops.SampleDistortedBoundingBoxV2(
            image_size=size,
            bounding_boxes=boxes,
            min_object_covered=tf.constant(0.1),
            seed=seed,
            seed2=seed + 4,
            aspect_ratio_range=[0.75, most_aspect],
            area_range=[least_area, 1.0],
            max_attempts=attempts,
            use_image_if_no_bounding_boxes=True,
        )[:2]
        for seed, most_aspect, least_area, attempts in settings
    ]
    rows = []
    for draw in range(DRAWS):
        shape = [*BOXED[draw % len(BOXED)], 3]
        results = session.run(drawn, {size: shape, boxes: objects(draw)})
        rows.append([[*begin[:2], *extent[:2]] for begin, extent in results])
    return {"boxes": np.array(rows, np.int16)}


if __name__ == "__main__":
    main()
