"""Single pictures: repeatable, readable, of the promised size."""

from __future__ import annotations

import numpy as np
import pytest

from trainferry.train.data.render.words.compose import (
    LEAST_CONTRAST,
    WIDEST,
    WIDEST_LINE,
    Composer,
    WordPicture,
)
from trainferry.train.data.render.words.fonts import bundled_fonts, open_typeface
from trainferry.train.data.render.words.lexicon import Lexicon, Lines

pytest.importorskip("cv2")


@pytest.fixture(scope="module")
def words() -> list[WordPicture]:
    composer = Composer(3, "train", Lexicon(), bundled_fonts())
    return [composer.compose(index) for index in range(600)]


def test_a_picture_depends_on_seed_split_and_number_only(words: list[WordPicture]) -> None:
    composer = Composer(3, "train", Lexicon(), bundled_fonts())
    for index in (17, 4, 300):
        again = composer.compose(index)
        assert again.text == words[index].text
        assert again.look == words[index].look
        assert np.array_equal(again.picture, words[index].picture)


def test_another_seed_or_split_gives_other_pictures(words: list[WordPicture]) -> None:
    for seed, split in ((4, "train"), (3, "valid")):
        other = Composer(seed, split, Lexicon(), bundled_fonts())
        same = [other.compose(index).text == words[index].text for index in range(20)]
        assert sum(same) < 5


def test_letters_stand_out_from_what_is_around_them(words: list[WordPicture]) -> None:
    weak = [word for word in words if word.contrast < LEAST_CONTRAST]
    assert len(weak) <= 0.01 * len(words)


def test_pictures_are_small_and_in_colour(words: list[WordPicture]) -> None:
    for word in words:
        height, width, channels = word.picture.shape
        assert channels == 3
        assert 8 <= height <= 40
        assert 8 <= width <= WIDEST
        assert word.picture.dtype == np.uint8


def test_the_font_of_a_picture_has_all_its_characters(words: list[WordPicture]) -> None:
    paths = {font.name: font.path for font in bundled_fonts()}
    for word in words[:100]:
        assert open_typeface(paths[word.font]).draws(word.text.drawn)


def test_looks_differ(words: list[WordPicture]) -> None:
    looks = [word.look for word in words]
    assert 0.08 < sum(look.warp.bend is not None for look in looks) / len(looks) < 0.25
    assert 0.05 < sum(look.paint.outline > 0 for look in looks) / len(looks) < 0.25
    assert 0.15 < sum(look.paint.shade is not None for look in looks) / len(looks) < 0.4
    assert len({word.font for word in words}) > 100


def test_the_plain_style_is_straight_and_strong() -> None:
    composer = Composer(0, "train", Lexicon(), bundled_fonts(), "plain")
    for word in map(composer.compose, range(50)):
        assert word.look.warp.bend is None
        assert word.look.paint.shade is None
        assert word.contrast > 2 * LEAST_CONTRAST


def test_no_end_of_a_word_is_turned_over(words: list[WordPicture]) -> None:
    for word in words:
        corners = word.look.warp.corners
        assert corners[1] - corners[7] < 0.51
        assert corners[3] - corners[5] < 0.51


def test_long_lines_keep_their_height() -> None:
    lines = Lines(["Trains are ferried over the water", "MWMWMWMWMWMWMWMWMWMWMWMWMWMWMWMW"])
    shapes = [
        Composer(3, "train", lines, bundled_fonts(), style).compose(index).picture.shape
        for style in ("street", "plain")
        for index in range(100)
    ]
    assert all(13 <= height <= 40 for height, _, _ in shapes)
    assert all(width <= WIDEST_LINE for _, width, _ in shapes)
    assert sum(width > 1.5 * WIDEST for _, width, _ in shapes) > 50
