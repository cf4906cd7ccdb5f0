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
    """Hold out one of five files of a user's fonts; a single file serves every split."""
    names = sorted(
        {font.name for font in fonts}, key=lambda name: (zlib.crc32(name.encode()), name)
    )
    if len(names) == 1:
        return fonts
    held_out = max(1, len(names) // _HELD_OUT_SHARE)
    chosen = names[held_out:] if split == "train" else names[:held_out]
    return [font for name in chosen for font in fonts if font.name == name]
