"""Pictures of where a network looked: lit in the right place, for each character read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.train.sign_run import open_signs_run, write_signs
from trainferry.errors import DataError
from trainferry.train.networks.inception_v3_parts import ENDPOINTS, map_size
from trainferry.train.predict.attention_picture import (
    Looked,
    attention_picture,
    draw_attention,
    light,
    look_at,
)
from trainferry.train.predict.reader import open_reader, run_reader

VIEWS, SIDE = 4, 150


def shares_at(
    places: list[tuple[int, int, int]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """All attention of each character at one place: view, row, column."""
    shares = np.zeros((len(places), VIEWS, 16, 16), np.float32)
    for number, (view, row, column) in enumerate(places):
        shares[number, view, row, column] = 1
    return shares


def looked(text: str, places: list[tuple[int, int, int]], score: float = 0.9) -> Looked:
    picture = np.full((SIDE, VIEWS * SIDE, 3), 200, np.uint8)
    return Looked(picture, text, (score,) * len(text), score, shares_at(places))


@pytest.mark.parametrize(("view", "row", "column"), [(0, 0, 0), (1, 5, 9), (3, 15, 15)])
def test_light_falls_on_the_middle_of_what_a_place_sees(view: int, row: int, column: int) -> None:
    brightness = light(shares_at([(view, row, column)])[0], SIDE, SIDE)
    assert brightness.shape == (SIDE, VIEWS * SIDE)
    y, x = np.unravel_index(int(brightness.argmax()), brightness.shape)
    # Windows without padding: 2 + 1 pixels wide at strides 1, 2, 2, 4, 4 of the tower.
    assert y == 13 + 8 * row
    assert x == view * SIDE + 13 + 8 * column
    assert brightness.max() == pytest.approx(1)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_places_of_every_endpoint_lie_inside_their_view(endpoint: str) -> None:
    rows, columns = map_size(endpoint, 150, 180)
    for row, column in ((0, 0), (rows - 1, columns - 1)):
        shares = np.zeros((1, rows, columns), np.float32)
        shares[0, row, column] = 1
        y, x = np.unravel_index(int(light(shares, 150, 180).argmax()), (150, 180))
        # As far from one border as from the other, up to what strides leave over.
        assert min(y, 149 - y) < 75
        assert min(x, 179 - x) < 90
        assert (y < 75) == (row == 0) or rows == 1
        assert (x < 90) == (column == 0) or columns == 1


def test_map_of_unknown_origin_is_spread_evenly() -> None:
    shares = np.zeros((1, 10, 10), np.float32)
    shares[0, 3, 6] = 1
    y, x = np.unravel_index(int(light(shares, 150, 150).argmax()), (150, 150))
    assert abs(y - 3.5 * 15) <= 1
    assert abs(x - 6.5 * 15) <= 1


def test_every_character_has_a_card_and_many_stand_side_by_side() -> None:
    few = draw_attention(looked("abc", [(0, 1, 1)] * 3))
    more = draw_attention(looked("abcd", [(0, 1, 1)] * 4))
    many = draw_attention(looked("abcdefgh", [(0, 1, 1)] * 8))
    longest = draw_attention(looked("a" * 37, [(0, 1, 1)] * 37))
    assert few.shape[1] == more.shape[1] < many.shape[1] < longest.shape[1]
    assert more.shape[0] - few.shape[0] == 140 + 20 + 16
    assert longest.shape[0] < 3000


def test_what_follows_behind_the_text_is_not_drawn() -> None:
    places = [(0, 3, 3), (1, 5, 5)]
    one = draw_attention(looked("ab", places))
    other = draw_attention(looked("ab", [*places, (2, 1, 1), (3, 8, 8)]))
    assert (one == other).all()


def test_looked_at_place_is_lighter_than_all_around_it() -> None:
    page = draw_attention(looked("a", [(2, 8, 8)])).astype(int)
    card = page[-28 - 150 : -28 - 10]  # the only card, at the bottom
    strip = card[:, 28 + 10 + 76 :][:, :560].mean(2)
    x = int(560 * (2 * SIDE + 13 + 8 * 8) / (VIEWS * SIDE))
    y = int(140 * (13 + 8 * 8) / SIDE)
    assert strip[y - 3 : y + 3, x - 3 : x + 3].mean() > 150
    assert strip[y - 3 : y + 3, 30:60].mean() < 110


def test_nothing_read_is_drawn_too() -> None:
    page = draw_attention(looked("", [(0, 0, 0)]))
    assert page.shape[0] < 500


def test_spaces_unsure_and_foreign_characters_can_be_drawn(tmp_path: Path) -> None:
    sign = looked("a 中\n", [(0, 0, 0)] * 4, score=0.2)
    attention_picture(sign, tmp_path / "looks.png")
    with Image.open(tmp_path / "looks.png") as written:
        assert (np.array(written) == draw_attention(sign)).all()
    red = np.array([198, 40, 40], np.uint8)
    assert (draw_attention(sign) == red).all(2).any()
    assert not (draw_attention(looked("ab", [(0, 0, 0)] * 2)) == red).all(2).any()


def test_attention_must_fit_the_text() -> None:
    with pytest.raises(DataError, match="3 characters, 3 scores and attention"):
        looked("abc", [(0, 0, 0)])


def test_run_is_asked_where_it_looked(tmp_path: Path, tiny_run: Path) -> None:
    run = open_signs_run(tmp_path / "run")
    folder = write_signs(tmp_path / "signs", 1)
    found = look_at(run_reader(run), folder / "sign0.png")
    assert found.shares.shape[1:] == (2, 2, 2)
    assert len(found.text) == len(found.scores)
    assert draw_attention(found).shape[2] == 3
    with pytest.raises(DataError, match="does not tell where it looks"):
        look_at(open_reader(tiny_run, device="cpu"), folder / "sign0.png")
