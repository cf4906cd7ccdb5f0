"""Text in pictures: a font for any script, cut to its width, and code points where none helps."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import ImageFont

from tests.train.data.render.collection import make_collection
from trainferry.train.data.render import picture_text
from trainferry.train.data.render.picture_text import drawable, fit_text, font_for
from trainferry.train.data.render.words.fonts import bundled_fonts, open_typeface
from trainferry.train.predict.picture_grid import Caption, draw_grid

GREEN = (18, 129, 63)


@pytest.fixture
def fonts_are_looked_for() -> Iterator[None]:
    """Forget which font was found for a text, before the test and after it."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    for cached in (picture_text._choose_font, picture_text.font_for):
        cached.cache_clear()


def test_text_is_cut_to_its_width() -> None:
    assert fit_text("short", 20, 500) == "short"
    cut = fit_text("a name that is far too long", 20, 100)
    assert cut.endswith("…")
    assert font_for(cut, 20).getlength(cut) <= 100


def test_line_breaks_become_spaces() -> None:
    assert drawable("line\nbreak\ttab") == "line break tab"
    picture = np.zeros((32, 100, 3), np.uint8)
    broken = draw_grid([picture], [Caption("two\nlines")])
    assert np.array_equal(broken, draw_grid([picture], [Caption("two lines")]))


@pytest.mark.usefixtures("fonts_are_looked_for")
def test_characters_without_a_font_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_text, "_SYSTEM_FONTS", ())
    assert drawable("中a") == "U+4E2D a"
    assert drawable("plain text") == "plain text"


@pytest.mark.usefixtures("fonts_are_looked_for")
def test_a_font_is_found_inside_a_collection(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    poor, rich = (
        next(font for font in bundled_fonts() if open_typeface(font.path).draws("ß") is has)
        for has in (False, True)
    )
    make_collection([poor.path, rich.path], tmp_path / "both.ttc")
    monkeypatch.setattr(picture_text, "bundled_fonts", lambda: [replace(poor, name="open-sans")])
    monkeypatch.setattr(picture_text, "_SYSTEM_FONTS", (str(tmp_path),))
    font = font_for("ß", 20)
    assert isinstance(font, ImageFont.FreeTypeFont)
    assert font.getname() == ImageFont.truetype(str(rich.path)).getname()
    assert drawable("ß") == "ß"


def test_regular_fonts_come_before_others(tmp_path: Path) -> None:
    for name in ("A-Bold.woff", "B-Regular.woff", "C-Light.woff"):
        shutil.copy(bundled_fonts()[0].path, tmp_path / name)
    names = [font.name for font in picture_text._usable_fonts(tmp_path)]
    assert names == ["B-Regular.woff", "A-Bold.woff", "C-Light.woff"]


@pytest.mark.usefixtures("fonts_are_looked_for")
def test_works_without_the_bundled_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_text, "bundled_fonts", list)
    picture = np.full((32, 100, 3), 128, np.uint8)
    page = draw_grid([picture], [Caption("word", "word", 0.9)])
    assert bool((page == np.array(GREEN, np.uint8)).all(axis=2).any())
