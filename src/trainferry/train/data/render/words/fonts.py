"""Fonts: the bundled ones, a user's folder, and their letters as small masks."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from trainferry.errors import DataError

Mask = npt.NDArray[np.uint8]

CAPITAL_HEIGHT = 36
"""Height in pixels at which letters are kept; the warp scales them to the picture."""

FONT_ENDINGS = (".ttf", ".otf", ".ttc", ".otc", ".woff", ".woff2")

_BUNDLED = Path(__file__).parent / "assets" / "fonts"
_LATIN = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NO_CHARACTER = "\U0010fffe"
_PROBE_SIZE = 64
_COLLECTION = b"ttcf"  # how a file of several fonts begins; a version and their number follow
_MOST_FACES = 100


@dataclass(frozen=True)
class Font:
    """A font and how often it is used. Several in one file, its faces, share a name."""

    name: str
    path: Path
    style: str
    weight: float
    face: int = 0


@dataclass(frozen=True)
class Refusal:
    """A font file that cannot be used, and why."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Glyph:
    """One letter: its ink, where the ink lies from pen and baseline, and the way to the next."""

    mask: Mask
    left: int
    top: int
    advance: float


class Typeface:
    """A font opened at CAPITAL_HEIGHT that remembers the letters it has drawn."""

    def __init__(self, path: Path, face: int = 0) -> None:
        probe = _open(path, face, _PROBE_SIZE)
        box = probe.getbbox("H", anchor="ls")
        height = max(-box[1], 1) if has_ink(probe, "H") else _PROBE_SIZE * 0.7
        self._font = _open(path, face, max(8, round(_PROBE_SIZE * CAPITAL_HEIGHT / height)))
        self._missing = _ink(self._font, _NO_CHARACTER)
        self._glyphs: dict[str, Glyph] = {}
        self._draws: dict[str, bool] = {}
        self._kerning: dict[str, float] = {}

    def draws(self, text: str) -> bool:
        """Tell whether the font has every character of the text."""
        return all(self._draws_one(character) for character in text)

    def glyph(self, character: str) -> Glyph:
        found = self._glyphs.get(character)
        if found is None:
            found = self._glyphs[character] = self._draw(character)
        return found

    def kerning(self, pair: str) -> float:
        """Return how much nearer (negative) the second letter stands than its advance says."""
        found = self._kerning.get(pair)
        if found is None:
            alone = self.glyph(pair[0]).advance + self.glyph(pair[1]).advance
            found = self._kerning[pair] = self._font.getlength(pair) - alone
        return found

    def _draws_one(self, character: str) -> bool:
        known = self._draws.get(character)
        if known is None:
            ink = self.glyph(character).mask
            known = _is_seen(ink) and not _equal(ink, self._missing)
            self._draws[character] = known
        return known

    def _draw(self, character: str) -> Glyph:
        left, top, right, bottom = (int(x) for x in self._font.getbbox(character, anchor="ls"))
        picture = Image.new("L", (max(right - left, 1), max(bottom - top, 1)))
        ImageDraw.Draw(picture).text((-left, -top), character, 255, self._font, anchor="ls")
        return Glyph(np.asarray(picture).copy(), left, top, self._font.getlength(character))


@lru_cache(maxsize=400)
def open_typeface(path: Path, face: int = 0) -> Typeface:
    return Typeface(path, face)


def bundled_fonts() -> list[Font]:
    """Return the fonts that come with the package."""
    with (_BUNDLED / "fonts.tsv").open(encoding="utf-8", newline="") as table:
        return [
            Font(row["file"], _BUNDLED / row["file"], row["style"], float(row["weight"]))
            for row in csv.DictReader(table, delimiter="\t")
        ]


def find_fonts(folder: Path) -> tuple[list[Font], list[Refusal]]:
    """Return the usable fonts below a folder, all files equally often, and the others with reasons.

    Every face of a collection is a font.
    """
    if not folder.is_dir():
        raise DataError(
            f"there is no font folder {folder}", hint="pass a folder that holds font files"
        )
    fonts: list[Font] = []
    refused: list[Refusal] = []
    for path in sorted(p for p in folder.rglob("*") if p.suffix.lower() in FONT_ENDINGS):
        try:
            usable = [face for face in range(_faces(path)) if _has_letters(path, face)]
        except (OSError, ValueError) as error:
            refused.append(Refusal(path, str(error) or type(error).__name__))
            continue
        if not usable:
            refused.append(Refusal(path, "has no letters"))
        name = os.fsencode(path.relative_to(folder)).decode("utf-8", "backslashreplace")
        fonts += [Font(name, path, "user", 1 / len(usable), face) for face in usable]
    if not fonts:
        told = "; ".join(f"{refusal.path.name}: {refusal.reason}" for refusal in refused[:3])
        raise DataError(
            f"no usable font in {folder}" + (f" ({told})" if told else ""),
            hint=f"put {', '.join(FONT_ENDINGS)} files there, or leave the bundled fonts",
        )
    return fonts, refused


def has_ink(font: ImageFont.FreeTypeFont, character: str) -> bool:
    return _ink(font, character) is not None


def _faces(path: Path) -> int:
    """How many fonts a file holds; it is left to FreeType whether they are some."""
    with path.open("rb") as file:
        start = file.read(12)
    if len(start) < 12 or not start.startswith(_COLLECTION):
        return 1
    count = int.from_bytes(start[8:], "big")
    if not 0 < count <= _MOST_FACES:
        raise ValueError(f"says that it holds {count:,} fonts")
    return count


def _has_letters(path: Path, face: int) -> bool:
    typeface = Typeface(path, face)
    if any(typeface.draws(character) for character in _LATIN):
        return True
    sample = "".join(map(chr, range(0x4E00, 0x4E10))) + "".join(map(chr, range(0x3B1, 0x3C0)))
    return any(typeface.draws(character) for character in sample)


def _open(path: Path, face: int, size: int) -> ImageFont.FreeTypeFont:
    # Not every Pillow has the complex layout engine: the simple one gives the same everywhere.
    return ImageFont.truetype(str(path), size, face, layout_engine=ImageFont.Layout.BASIC)


def _ink(font: ImageFont.FreeTypeFont, character: str) -> Mask | None:
    left, top, right, bottom = (int(x) for x in font.getbbox(character))
    if right <= left or bottom <= top:
        return None
    picture = Image.new("L", (right - left, bottom - top))
    ImageDraw.Draw(picture).text((-left, -top), character, 255, font)
    ink = np.asarray(picture)
    return ink if _is_seen(ink) else None


def _is_seen(ink: Mask) -> bool:
    return bool(ink.max() > 127)


def _equal(first: Mask, second: Mask | None) -> bool:
    return second is not None and first.shape == second.shape and bool((first == second).all())
