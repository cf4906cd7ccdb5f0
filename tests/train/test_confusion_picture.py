"""The picture of a confusion matrix: green where right, red where not, and fit to be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from trainferry.errors import DataError
from trainferry.train.data.pictures import Picture
from trainferry.train.scores.confusion_picture import (
    MOST_CLASSES,
    confusion_picture,
    draw_confusion,
)

GREEN, RED, PAPER = (11, 110, 55), (190, 24, 24), (255, 255, 255)


def details(
    matrix: list[list[int]], names: list[str] | None = None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    classes = [
        {
            "label": label,
            "name": names[label - 1] if names else f"class {label}",
            "samples": sum(row),
            "right": row[label - 1],
        }
        for label, row in enumerate(matrix, 1)
    ]
    confused = [
        {"truth_label": truth, "read_label": read, "times": times}
        for truth, row in enumerate(matrix, 1)
        for read, times in enumerate(row, 1)
        if times and truth != read
    ]
    return classes, confused


def has_colour(page: Picture, colour: tuple[int, int, int], least: int = 500) -> bool:
    return int((page == np.array(colour, np.uint8)).all(axis=2).sum()) >= least


def diagonal(count: int) -> list[list[int]]:
    return [[9 * (row == column) for column in range(count)] for row in range(count)]


def test_right_is_green_and_wrong_is_red() -> None:
    right = draw_confusion(*details([[4, 0], [0, 4]]))
    wrong = draw_confusion(*details([[0, 4], [4, 0]]))
    # The scale at the side has a line of each full colour.
    assert has_colour(right, GREEN)
    assert not has_colour(right, RED)
    assert has_colour(wrong, RED)
    assert not has_colour(wrong, GREEN)


def test_colours_are_shares_of_the_row() -> None:
    page = draw_confusion(*details([[99, 1], [50, 50]]))
    rare, half = (248, 232, 232), (209, 92, 92)  # by a tenth, and by the root of a half
    assert has_colour(page, rare)
    assert has_colour(page, half)


def test_classes_without_samples_or_answers_are_left_out() -> None:
    matrix = diagonal(30)
    small = draw_confusion(*details([row[:3] for row in matrix[:3]]))
    for number in range(3, 30):
        matrix[number][number] = 0
    assert np.array_equal(draw_confusion(*details(matrix)), small)


def test_a_class_that_is_only_answered_has_its_column() -> None:
    with_third = draw_confusion(*details([[4, 0, 2], [0, 4, 0], [0, 0, 0]]))
    without = draw_confusion(*details([[4, 2], [0, 4]]))
    assert with_third.shape[0] >= without.shape[0]
    assert not np.array_equal(with_third, without)


@pytest.mark.parametrize("count", [1, 20, 21, 100, 101, 300, 1300])
def test_any_number_of_classes_fits_on_a_page(count: int) -> None:
    page = draw_confusion(*details(diagonal(count)))
    assert max(page.shape) < 4200
    assert has_colour(page, GREEN, least=count)


def test_a_mistake_among_many_classes_can_be_seen() -> None:
    matrix = diagonal(600)
    matrix[10] = [1000 * (column == 10) + (column == 400) for column in range(600)]
    plain, marked = draw_confusion(*details(diagonal(600))), draw_confusion(*details(matrix))
    changed = marked[(plain != marked).any(axis=2)]
    # A rare mistake is at least half as red as it can be.
    assert (changed[:, 1] < 150).any()


def test_names_may_be_long_or_of_any_script() -> None:
    names = ["a", "name " * 60, "降落伞", "Ünïcödé", "", "line\nbreak"]
    page = draw_confusion(*details(diagonal(6), names))
    assert page.shape[1] < 2000


def test_file_is_a_png_of_the_same_pixels(tmp_path: Path) -> None:
    confusion_picture(*details(diagonal(3)), tmp_path / "new" / "matrix.png")
    with Image.open(tmp_path / "new" / "matrix.png") as written:
        assert written.format == "PNG"
        assert np.array_equal(np.array(written), draw_confusion(*details(diagonal(3))))


def test_what_cannot_be_drawn_is_told() -> None:
    classes, _ = details([[4, 0], [0, 4]])
    with pytest.raises(DataError, match="not known for all samples"):
        draw_confusion(classes, None)
    many = [{"label": n, "name": "", "samples": 1, "right": 1} for n in range(MOST_CLASSES + 1)]
    for shown in ([], many):
        with pytest.raises(DataError, match=f"{len(shown)} classes cannot be drawn"):
            draw_confusion(shown, [])
