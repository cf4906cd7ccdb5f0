"""Which fonts plates are lettered in, and which of them a split may use."""

from __future__ import annotations

import tomllib
import zlib
from pathlib import Path

from trainferry.train.data.render.words.fonts import Font, bundled_fonts

_ASSETS = Path(__file__).parent / "assets"
_HELD_OUT_SHARE = 5


def plate_fonts(split: str) -> list[Font]:
    """Return the bundled fonts of a split: those of `train` occur in no other."""
    files = {font.path.stem: font.path for font in bundled_fonts()}
    files |= {path.stem: path for path in (_ASSETS / "fonts").glob("*.woff")}
    column = "train" if split == "train" else "held_out"
    fonts = []
    for group in tomllib.loads((_ASSETS / "fonts.toml").read_text(encoding="utf-8"))["group"]:
        names = group[column]
        weight = group[f"{column}_share"] / len(names)
        fonts += [Font(name, files[name], group["style"], weight) for name in names]
    return fonts


def split_fonts(fonts: list[Font], split: str) -> list[Font]:
    """Hold out one of five of a user's fonts; a single font serves every split."""
    if len(fonts) == 1:
        return fonts
    order = sorted(fonts, key=lambda font: (zlib.crc32(font.name.encode()), font.name))
    held_out = max(1, len(fonts) // _HELD_OUT_SHARE)
    return order[held_out:] if split == "train" else order[:held_out]
