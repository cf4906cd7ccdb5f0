"""A small set of coloured shapes with their classes, for tests that train."""

from __future__ import annotations

import colorsys
import io
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from trainferry.train.data.example import build_example
from trainferry.train.data.photos.classes import PhotoClass, write_classes
from trainferry.train.data.tfrecord import write_records

SHAPES = ("disc", "square", "triangle", "cross", "ring")


def make_photo_data(
    folder: Path,
    classes: int = 3,
    train: int = 24,
    val: int = 9,
    size: int = 48,
    aspect: float = 1.25,
) -> Path:
    """Write two files of training and one of validation photographs; the classes take turns."""
    write_classes(folder, [PhotoClass(class_name(n), class_name(n)) for n in range(classes)])
    for split, count, shards in (("train", train, 2), ("validation", val, 1)):
        first = (split == "train") * 10_000
        records = [
            photo_record(number % classes, classes, size, first + number, aspect)
            for number in range(count)
        ]
        for shard in range(shards if count else 0):
            path = folder / f"{split}-{shard:05d}-of-{shards:05d}"
            write_records(path, records[shard::shards])
    return folder


def class_name(number: int) -> str:
    return f"{SHAPES[number % len(SHAPES)]} {number}"


def photo_record(
    number: int, classes: int, size: int = 48, seed: int = 0, aspect: float = 1.25
) -> bytes:
    """Build a record as `data folder` does."""
    return build_example(
        {
            "image/encoded": draw_photo(number, classes, size, seed, aspect),
            "image/format": "JPEG",
            "image/height": size,
            "image/width": int(size * aspect),
            "image/class/label": number + 1,
            "image/class/text": class_name(number),
            "image/class/synset": class_name(number),
            "image/filename": f"{class_name(number)} {seed}.jpg",
        }
    )


def draw_photo(
    number: int, classes: int, size: int = 48, seed: int = 0, aspect: float = 1.25
) -> bytes:
    """Draw the shape and colour of a class at a random place on a noisy ground, as JPEG."""
    dice = np.random.default_rng([number, seed])
    ground = dice.integers(90, 160, (size, int(size * aspect), 3), dtype=np.uint8)
    image = Image.fromarray(ground)
    colour = tuple(round(255 * part) for part in colorsys.hsv_to_rgb(number / classes, 0.9, 0.95))
    radius = float(dice.uniform(0.25, 0.4)) * size
    x, y = (float(dice.uniform(radius, side - radius)) for side in image.size)
    _draw_shape(ImageDraw.Draw(image), SHAPES[number % len(SHAPES)], (x, y, radius), colour)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=90)
    return file.getvalue()


def _draw_shape(
    draw: ImageDraw.ImageDraw,
    shape: str,
    place: tuple[float, float, float],
    colour: tuple[int, ...],
) -> None:
    x, y, radius = place
    around = (x - radius, y - radius, x + radius, y + radius)
    if shape == "disc":
        draw.ellipse(around, colour)
    elif shape == "square":
        draw.rectangle(around, colour)
    elif shape == "triangle":
        draw.polygon([(x, y - radius), (x - radius, y + radius), (x + radius, y + radius)], colour)
    elif shape == "ring":
        draw.ellipse(around, outline=colour, width=max(2, round(radius / 3)))
    else:
        draw.rectangle((x - radius, y - radius / 3, x + radius, y + radius / 3), colour)
        draw.rectangle((x - radius / 3, y - radius, x + radius / 3, y + radius), colour)
