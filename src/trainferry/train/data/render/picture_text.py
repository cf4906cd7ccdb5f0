"""Text of any script in pictures: a font that has its letters, and what to write if none has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from PIL import ImageFont

from trainferry.errors import DataError
from trainferry.train.data.render.words.fonts import Font, bundled_fonts, find_fonts, open_typeface

_FAMILY = "open-sans"
_SYSTEM_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")


def drawable(text: str) -> str:
    """Write characters that no font here has as their code points, and no line breaks."""
    text = "".join(each if each.isprintable() else " " for each in text)
    font = _choose_font(text)
    if font is None or _draws(font, text.replace(" ", "")):
        return text
    return "".join(each if each.isascii() else f"U+{ord(each):04X} " for each in text).strip()


@cache
def font_for(text: str, pixels: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return a font that has all of the text, or else the bundled one."""
    font = _choose_font(text)
    if font is None:
        return ImageFont.load_default(pixels)
    return ImageFont.truetype(str(font.path), pixels, font.face)


def fit_text(text: str, pixels: int, width: int) -> str:
    """Return what of a text fits into a width, with … in place of the rest."""
    shown, font = drawable(text), font_for(text, pixels)
    while font.getlength(shown) > width and len(shown) > 2:
        shown = shown[:-2] + "…"
    return shown


@cache
def _choose_font(text: str) -> Font | None:
    letters = text.replace(" ", "")
    bundled = next((font for font in bundled_fonts() if font.name.startswith(_FAMILY)), None)
    if bundled is None or _draws(bundled, letters):
        return bundled
    return next((font for font in _system_fonts() if _draws(font, letters)), bundled)


def _draws(font: Font, letters: str) -> bool:
    return open_typeface(font.path, font.face).draws(letters)


def _system_fonts() -> Iterator[Font]:
    for folder in (Path(name).expanduser() for name in _SYSTEM_FONTS):
        if folder.is_dir():
            yield from _usable_fonts(folder)


@cache
def _usable_fonts(folder: Path) -> tuple[Font, ...]:
    try:
        found, _ = find_fonts(folder)
    except DataError:
        return ()  # a machine without fonts
    return tuple(sorted(found, key=_rank))


def _rank(font: Font) -> tuple[bool, bool]:
    """Regular fonts first; of collections for several languages, the Chinese forms first."""
    family, _ = ImageFont.truetype(str(font.path), 10, font.face).getname()
    return "regular" not in font.name.lower(), not (family or "").endswith(" SC")
