"""A page of samples with their texts, to look at."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from trainferry.train.data.render.words.fonts import bundled_fonts
from trainferry.train.data.whole_file import write_whole

_CAPTION = 17
_GAP = 8


def sign_sheet(
    pictures: Sequence[npt.NDArray[np.uint8]], texts: Sequence[str], path: Path, columns: int = 2
) -> None:
    """Write samples of one size, each under its text, as one PNG."""
    height, width = pictures[0].shape[:2]
    rows = -(-len(pictures) // columns)
    cell = (width + _GAP, height + _CAPTION)
    page = Image.new("RGB", (columns * cell[0], rows * cell[1]), "white")
    pen = ImageDraw.Draw(page)
    font = ImageFont.truetype(str(bundled_fonts()[12].path), 13)
    for place, (picture, text) in enumerate(zip(pictures, texts, strict=True)):
        left, top = place % columns * cell[0], place // columns * cell[1]
        page.paste(Image.fromarray(picture), (left, top + _CAPTION))
        pen.text((left + 2, top + 1), text, "black", font)
    encoded = io.BytesIO()
    page.save(encoded, format="PNG")
    write_whole(path, encoded.getvalue())
