"""The fonts and words that come with the package."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from trainferry.train.data.render.words import fonts as fonts_module
from trainferry.train.data.render.words.fonts import Typeface, bundled_fonts
from trainferry.train.data.render.words.lexicon import read_groups

ASSETS = Path(fonts_module.__file__).parent / "assets"
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@pytest.mark.slow
def test_every_bundled_font_draws_letters_and_digits() -> None:
    poor = {
        font.name: [character for character in ALPHABET if not typeface.draws(character)]
        for font in bundled_fonts()
        if not (typeface := Typeface(font.path)).draws(ALPHABET)
    }
    assert poor == {}


def test_every_font_file_is_listed_and_every_listed_file_is_there() -> None:
    listed = {font.path for font in bundled_fonts()}
    assert listed == set((ASSETS / "fonts").glob("*.woff"))


def test_every_font_has_its_licence_and_copyright() -> None:
    with (ASSETS / "fonts" / "fonts.tsv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    copyrights = (ASSETS / "fonts" / "LICENSES" / "COPYRIGHTS.txt").read_text(encoding="utf-8")
    for row in rows:
        assert row["licence"] in {"OFL-1.1", "Apache-2.0"}
        assert (ASSETS / "fonts" / "LICENSES" / f"{row['licence']}.txt").is_file()
        assert f"{row['family']} ({row['licence']})\n  " in copyrights


def test_the_word_list_comes_with_its_notice() -> None:
    notice = (ASSETS / "words" / "LICENSE-SCOWL.txt").read_text(encoding="utf-8")
    assert "Kevin Atkinson" in notice


def test_plain_and_serif_fonts_make_most_pictures() -> None:
    fonts = bundled_fonts()
    plain = sum(font.weight for font in fonts if font.style in {"sans", "serif", "slab"})
    assert 0.65 < plain / sum(font.weight for font in fonts) < 0.8


def test_assets_stay_small() -> None:
    assert sum(path.stat().st_size for path in ASSETS.rglob("*") if path.is_file()) < 5_000_000


def test_no_group_of_words_is_empty() -> None:
    assert min(len(words) for words in read_groups().values()) > 300
