"""Lettering of plates for training: like that of no font, and still to be read."""

from __future__ import annotations

import numpy as np
import pytest

from trainferry.train.data.render.signs.fonts import plate_fonts
from trainferry.train.data.render.signs.lettering import Run, Setting, set_line
from trainferry.train.data.render.signs.variety import Hand, draw_hand
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import Mask, open_typeface

pytest.importorskip("cv2")

FONTS = plate_fonts("train")


def written(hand: Hand | None, font: int = 0, text: str = "RUE \u00c9LISE") -> Mask:
    return set_line([Run(text)], open_typeface(FONTS[font].path), Setting(hand=hand))


def test_a_hand_that_changes_nothing_writes_as_the_font() -> None:
    assert (written(Hand()) == written(None)).all()


def test_one_font_gives_many_letterings() -> None:
    lines = {written(draw_hand(Dice(0, "train", index))).tobytes() for index in range(40)}
    assert len(lines) > 35


def test_the_same_dice_give_the_same_hand() -> None:
    assert draw_hand(Dice(0, "train", 3)) == draw_hand(Dice(0, "train", 3))


def test_strokes_never_vanish_nor_fill_up() -> None:
    for number in range(0, len(FONTS), 4):
        plain = written(None, number).sum()
        for index in range(5):
            ink = written(draw_hand(Dice(number, "train", index)), number).sum()
            assert 0.5 < ink / plain < 1.8, FONTS[number].name


def test_a_slant_moves_the_tops_and_leaves_the_baseline() -> None:
    plain, slanted = written(None, text="I"), written(Hand(slant=0.2), text="I")
    rows = np.flatnonzero(plain.max(axis=1) > 127)

    def middle(line: Mask, row: int) -> float:
        return float((line[row] * np.arange(line.shape[1])).sum() / line[row].sum())

    top, bottom = int(rows[1]), int(rows[-2])
    moved = [middle(slanted, row) - middle(plain, row) for row in (top, bottom)]
    assert moved[0] - moved[1] == pytest.approx(0.2 * (bottom - top), abs=1)


def test_a_higher_waist_moves_the_bars_of_letters_up() -> None:
    def bar(hand: Hand) -> float:
        rows = written(hand, text="H").sum(axis=1).astype(float)
        rows -= np.median(rows[rows > 0])
        return float(np.argmax(rows))

    assert bar(Hand(waist=0.7)) < bar(Hand()) < bar(Hand(waist=1.4))
