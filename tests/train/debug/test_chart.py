"""The chart of a comparison: what its scales say."""

from __future__ import annotations

from typing import Any

import pytest
from PIL import ImageDraw

from trainferry.train.debug.compare.chart import Chart, Line, draw_chart


@pytest.mark.parametrize("places", [(6.0,), (6.0, 7.0), (1.0, 5.0), (100.0, 4000.0)])
def test_steps_are_whole_numbers_however_few(
    places: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    below = []
    draw: Any = ImageDraw.ImageDraw.text

    def listen(pen: Any, place: Any, text: str, *looks: Any, anchor: str = "la") -> None:
        draw(pen, place, text, *looks, anchor=anchor)
        if anchor == "ma":
            below.append(text)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", listen)
    line = Line("loss", [(place, 2.0 + place) for place in places], "#000000")
    draw_chart(Chart("losses", [line], across="step"))
    assert below
    assert all(text.isdecimal() for text in below)
