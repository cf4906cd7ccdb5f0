"""A chart of lines, drawn with Pillow alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

from trainferry.train.data.render.picture_text import fit_text, font_for

WIDTH, HEIGHT = 1600, 520
_LEFT, _RIGHT, _TOP, _BOTTOM = 170, 40, 110, 80
_TITLE, _TEXT = 32, 24
_PAPER, _INK, _FAINT, _GRID, _LIMIT = "#ffffff", "#1d2733", "#6b7684", "#e3e7ec", "#c62828"

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """Points from left to right with a name for the legend; those not finite are left out."""

    name: str
    points: Sequence[Point]
    colour: str
    width: int = 4


@dataclass(frozen=True)
class Chart:
    """Lines over one scale; `limit` is a level, `mark` a place, both drawn in red."""

    title: str
    lines: Sequence[Line]
    across: str
    is_logarithmic: bool = False
    limit: float | None = None
    mark: float | None = None


def draw_chart(chart: Chart) -> Image.Image:
    page = Image.new("RGB", (WIDTH, HEIGHT), _PAPER)
    pen = ImageDraw.Draw(page)
    scale = _Scale.of(chart)
    title = fit_text(chart.title, _TITLE, WIDTH - _LEFT - _RIGHT)
    pen.text((_LEFT, 44), title, _INK, font_for(title, _TITLE), anchor="ls")
    _draw_axes(pen, chart, scale)
    for line in chart.lines:
        points = [scale.place(point) for point in line.points if _is_drawable(chart, point)]
        if len(points) > 1:
            pen.line(points, line.colour, line.width, joint="curve")
        for x, y in points if len(points) <= 60 else ():
            pen.ellipse((x - 5, y - 5, x + 5, y + 5), line.colour)
    _draw_legend(pen, chart)
    return page


def stack_charts(charts: Sequence[Image.Image]) -> Image.Image:
    page = Image.new("RGB", (WIDTH, HEIGHT * len(charts)), _PAPER)
    for number, chart in enumerate(charts):
        page.paste(chart, (0, number * HEIGHT))
    return page


@dataclass(frozen=True)
class _Scale:
    """From values to pixels."""

    left: float
    right: float
    low: float
    high: float
    is_logarithmic: bool

    @staticmethod
    def of(chart: Chart) -> _Scale:
        points = [p for line in chart.lines for p in line.points if _is_drawable(chart, p)]
        # Of all points: charts one above the other share their places.
        places = [point[0] for line in chart.lines for point in line.points] or [0.0, 1.0]
        levels = [point[1] for point in points] or [0.1, 1.0]
        if chart.limit is not None:
            levels.append(chart.limit)
        low, high = min(levels), max(levels)
        if chart.is_logarithmic:
            low, high = low / 1.5, high * 1.5
        else:
            room = (high - low or abs(high) or 1.0) * 0.06
            low, high = low - room, high + room
        left, right = min(places), max(places)
        if left == right:
            left, right = left - 1, right + 1
        return _Scale(left, right, low, high, chart.is_logarithmic)

    def place(self, point: Point) -> Point:
        x = (point[0] - self.left) / (self.right - self.left)
        low, high, value = self.low, self.high, point[1]
        if self.is_logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        y = (value - low) / (high - low)
        return (
            _LEFT + x * (WIDTH - _LEFT - _RIGHT),
            HEIGHT - _BOTTOM - y * (HEIGHT - _TOP - _BOTTOM),
        )

    def levels(self) -> list[float]:
        """A few round values to write beside the chart."""
        if self.is_logarithmic:
            first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            every = max((last - first) // 5, 1)
            tens = [10.0**power for power in range(first, last + 1, every)]
            inside = [level for level in tens if self.low <= level <= self.high]
            if len(inside) > 1:
                return inside
            steps = [digit * ten for ten in tens for digit in (1, 2, 3, 5, 7)]
            return [level for level in steps if self.low <= level <= self.high]
        return _round_steps(self.low, self.high)


def _draw_axes(pen: ImageDraw.ImageDraw, chart: Chart, scale: _Scale) -> None:
    font = font_for("0.1", _TEXT)
    for level in scale.levels():
        _, y = scale.place((scale.left, level))
        pen.line((_LEFT, y, WIDTH - _RIGHT, y), _GRID, 2)
        pen.text((_LEFT - 16, y), f"{level:.4g}", _FAINT, font, anchor="rm")
    for place in _round_steps(scale.left, scale.right, least=1):  # steps and layers are whole
        x, _ = scale.place((place, scale.low))
        pen.line((x, HEIGHT - _BOTTOM, x, HEIGHT - _BOTTOM + 10), _FAINT, 2)
        pen.text((x, HEIGHT - _BOTTOM + 16), f"{place:g}", _FAINT, font, anchor="ma")
    pen.text((WIDTH - _RIGHT, HEIGHT - 8), chart.across, _FAINT, font, anchor="rs")
    pen.line((_LEFT, HEIGHT - _BOTTOM, WIDTH - _RIGHT, HEIGHT - _BOTTOM), _FAINT, 2)
    if chart.limit is not None:
        _, y = scale.place((scale.left, chart.limit))
        for x in range(_LEFT, WIDTH - _RIGHT, 24):
            pen.line((x, y, x + 12, y), _LIMIT, 3)
        pen.text((WIDTH - _RIGHT, y - 6), "tolerance", _LIMIT, font, anchor="rs")
    if chart.mark is not None:
        x, _ = scale.place((chart.mark, scale.low if scale.low > 0 else scale.high))
        pen.line((x, _TOP, x, HEIGHT - _BOTTOM), _LIMIT, 3)


def _draw_legend(pen: ImageDraw.ImageDraw, chart: Chart) -> None:
    x = float(_LEFT)
    for line in chart.lines:
        name = fit_text(line.name, _TEXT, (WIDTH - _LEFT - _RIGHT) // len(chart.lines) - 80)
        pen.line((x, 76, x + 40, 76), line.colour, 6)
        font = font_for(name, _TEXT)
        pen.text((x + 52, 76), name, _INK, font, anchor="lm")
        x += 52 + font.getlength(name) + 40


def _is_drawable(chart: Chart, point: Point) -> bool:
    return math.isfinite(point[1]) and (point[1] > 0 or not chart.is_logarithmic)


def _round_steps(low: float, high: float, least: float = 0) -> list[float]:
    rough = max((high - low) / 6, least)
    ten = 10.0 ** math.floor(math.log10(rough))
    step = next(ten * digit for digit in (1, 2, 5, 10) if ten * digit >= rough)
    first = math.ceil(low / step)
    return [round(number * step, 12) for number in range(first, int(high // step) + 1)]
