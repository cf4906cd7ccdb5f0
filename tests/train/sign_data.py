"""A small set of plainly drawn signs, for tests that train."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from trainferry.train.data.pictures import Picture, encode_png
from trainferry.train.data.signs.charset import NULL_NAME, Charset, write_charset
from trainferry.train.data.signs.example import build_sign
from trainferry.train.data.signs.views import noise
from trainferry.train.data.tfrecord import write_records

LETTERS = " abcdefgh0123\u2019"
LONGEST = 6
SIDE = 35


def small_charset() -> Charset:
    """Every letter with a code of its own, two apostrophes with one, and the null behind them."""
    apostrophe = LETTERS.index("\u2019")
    return Charset((*enumerate(LETTERS), (apostrophe, "'"), (len(LETTERS), NULL_NAME)))


def make_sign_data(
    folder: Path, train: int = 16, val: int = 6, views: int = 4, side: int = SIDE
) -> Path:
    """Write the charset, two files of training and one of validation signs."""
    stream = random.Random(5)
    charset = small_charset()
    folder.mkdir(parents=True, exist_ok=True)
    write_charset(charset, folder)
    for split, count, files in (("train", train, 2), ("val", val, 1)):
        texts = [
            "".join(stream.choices(LETTERS[1:13], k=stream.randint(1, 4))) for _ in range(count)
        ]
        records = [sign_record(text, views, side, seed) for seed, text in enumerate(texts)]
        for number in range(files if count else 0):
            path = folder / "tfrecords" / f"{split}_{number + 1}.tfrecords"
            write_records(path, records[number::files])
    return folder


def sign_record(text: str, views: int = 4, side: int = SIDE, seed: int = 0) -> bytes:
    """Build a record as `data signs` does; some views of some signs are missing."""
    present = views - seed % views if seed % 3 == 0 else views
    shown = encode_png(draw_sign(text, views, side, present, seed))
    return build_sign(
        shown, text, small_charset(), present, views, side=side, length=max(LONGEST, len(text))
    )


def draw_sign(text: str, views: int, side: int, present: int, seed: int = 0) -> Picture:
    """Draw views side by side: white on blue, each at its own place; noise where there is none."""
    dice = np.random.default_rng(seed)
    font = ImageFont.load_default(max(6, side // 3))
    drawn = noise(side, views * side, dice)
    for view in range(present):
        image = Image.new("RGB", (side, side), (20, 40, 90 + 30 * view % 120))
        place = tuple(float(dice.uniform(1, side / 4)) for _ in range(2))
        ImageDraw.Draw(image).text((place[0], place[1]), text, (250, 250, 240), font=font)
        drawn[:, view * side : (view + 1) * side] = np.asarray(image)
    return drawn
