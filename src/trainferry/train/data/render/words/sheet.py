"""A contact sheet: many pictures with their labels on one page, to look at."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from trainferry.train.data.render.picture_text import fit_text, font_for
from trainferry.train.data.whole_file import write_whole

_CELL = (140, 46)
_CAPTION = 18
_TEXT = 13


def contact_sheet(
    pictures: Sequence[npt.NDArray[np.uint8]], texts: Sequence[str], path: Path, columns: int = 10
) -> None:
    """Write the pictures, all stretched to one size as a network sees them, as one PNG."""
    width, height = _CELL
    rows = -(-len(pictures) // columns)
    page = Image.new("RGB", (columns * width, max(1, rows) * (height + _CAPTION)))
    pen = ImageDraw.Draw(page)
    for place, (picture, text) in enumerate(zip(pictures, texts, strict=True)):
        left, top = place % columns * width, place // columns * (height + _CAPTION)
        page.paste(Image.fromarray(picture).resize(_CELL, Image.Resampling.BILINEAR), (left, top))
        caption = fit_text(text, _TEXT, width - 4)
        pen.text((left + 2, top + height), caption, (255, 255, 0), font_for(caption, _TEXT))
    encoded = io.BytesIO()
    page.save(encoded, format="PNG")
    write_whole(path, encoded.getvalue())
