"""A small set of plainly drawn words, for tests that train."""

from __future__ import annotations

import io
import random
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from trainferry.train.data.example import build_example
from trainferry.train.data.tfrecord import write_records

LETTERS = "abcdefgh0123"
# Sizes at which a step takes a few milliseconds.
TINY = (
    "network.channels=[4,4,8,8,8,8,8]",
    "network.hidden=8",
    "network.norm_decay=0.9",
    "loop.batch=8",
    "schedule.steps=20",
    "schedule.warmup_steps=2",
    "loop.log_every=5",
    "loop.evaluate_every=10",
    "loop.save_every=5",
    "data.workers=0",
)


def draw_word(text: str) -> bytes:
    font = ImageFont.load_default(24)
    picture = Image.new("RGB", (int(font.getlength(text)) + 10, 32), (250, 250, 250))
    ImageDraw.Draw(picture).text((5, 2), text, (10, 10, 10), font=font)
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def word_record(text: str, picture: bytes | None = None) -> bytes:
    encoded = draw_word(text) if picture is None else picture
    return build_example({"image/encoded": encoded, "image/text": text, "image/path": text})


def make_word_data(folder: Path, train: int = 60, val: int = 12) -> Path:
    stream = random.Random(7)
    for split, count in (("train", train), ("val", val)):
        if not count:
            continue
        words = ["".join(stream.choices(LETTERS, k=stream.randint(1, 4))) for _ in range(count)]
        write_records(folder / "tfrecords" / f"{split}_1.tfrecords", map(word_record, words))
    return folder
