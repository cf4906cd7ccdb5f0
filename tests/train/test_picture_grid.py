"""Grids of pictures with what was read: right, wrong, unknown, and in any script."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from tests.train.run_folder import make_run
from tests.train.word_data import word_record
from trainferry.errors import DataError
from trainferry.train.build import open_run
from trainferry.train.data.pictures import Picture
from trainferry.train.data.tfrecord import write_records
from trainferry.train.predict.picture_grid import Caption, draw_grid, draw_readings, picture_grid
from trainferry.train.words import evaluation_source

GREEN, RED = (18, 129, 63), (198, 40, 40)


def grey(height: int = 32, width: int = 100) -> Picture:
    return np.full((height, width, 3), 128, np.uint8)


def has_colour(page: Picture, colour: tuple[int, int, int]) -> bool:
    return bool((page == np.array(colour, np.uint8)).all(axis=2).any())


def test_right_is_green_and_wrong_is_red() -> None:
    right = draw_grid([grey()], [Caption("word", "word", 0.9)])
    wrong = draw_grid([grey()], [Caption("ward", "word", 0.9)])
    unknown = draw_grid([grey()], [Caption("word")])
    assert has_colour(right, GREEN)
    assert not has_colour(right, RED)
    assert has_colour(wrong, RED)
    assert not has_colour(wrong, GREEN)
    assert not has_colour(unknown, GREEN)
    assert not has_colour(unknown, RED)


def test_page_grows_with_rows_and_columns() -> None:
    captions = [Caption("word")] * 5
    wide = draw_grid([grey()] * 5, captions, columns=5)
    tall = draw_grid([grey()] * 5, captions, columns=1)
    assert wide.shape[1] > 4 * tall.shape[1]
    assert tall.shape[0] > 4 * wide.shape[0]


def test_file_is_a_png_of_the_same_pixels(tmp_path: Path) -> None:
    pictures = [grey(10, 300), grey(300, 10), grey(1, 1)]
    captions = [Caption("a", "a", 1.0), Caption("", "b", 0.0), Caption("c" * 60)]
    picture_grid(pictures, captions, tmp_path / "grid.png", columns=2)
    with Image.open(tmp_path / "grid.png") as written:
        assert written.format == "PNG"
        assert (np.array(written) == draw_grid(pictures, captions, columns=2)).all()


def test_pictures_keep_their_proportions() -> None:
    page = draw_grid([grey(40, 40)], [Caption("word")])
    rows, columns = np.nonzero((page == 128).all(axis=2))
    height, width = np.ptp(rows) + 1, np.ptp(columns) + 1
    assert height == width


@pytest.mark.parametrize("order", ["rgb", "bgr"])
def test_samples_are_drawn_as_the_run_reads_them(tmp_path: Path, order: str) -> None:
    run = open_run(make_run(tmp_path / "run", f"picture.order={order}"), device=torch.device("cpu"))
    words = [word_record("ab"), word_record("cd", b"no picture"), word_record("ef")]
    write_records(tmp_path / "val_1.tfrecords", words)
    source = evaluation_source(run.recipe, tmp_path, "val", "exact")
    captions = draw_readings(run, source, 20, tmp_path / "grid.png")
    assert [caption.truth for caption in captions] == ["ab", "ef"]
    assert (tmp_path / "grid.png").is_file()


def test_every_picture_needs_a_caption() -> None:
    with pytest.raises(DataError, match="2 pictures and 1 captions"):
        draw_grid([grey(), grey()], [Caption("word")])
    with pytest.raises(DataError, match="0 pictures"):
        draw_grid([], [])
