"""A small chart of losses as SVG, which the page's style colours."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trainferry.report.pieces import shown

_WIDTH, _HEIGHT = 460, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 12, 48
_MOST_LINES = 4


def loss_chart(lines: Sequence[tuple[tuple[str, str], Sequence[float | None]]]) -> str:
    """Lines over steps, each with its name in both languages; empty without two steps."""
    drawn = [(name, _points(values)) for name, values in lines[:_MOST_LINES]]
    drawn = [(name, points) for name, points in drawn if points]
    steps = max((step for _, points in drawn for step, _ in points), default=0)
    if steps < 2:
        return ""
    values = [value for _, points in drawn for _, value in points]
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 0.5, high + 0.5

    def place(step: int, value: float) -> tuple[float, float]:
        x = _LEFT + (step - 1) / (steps - 1) * (_WIDTH - _LEFT - _RIGHT)
        y = _TOP + (high - value) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)
        return round(x, 1), round(y, 1)

    floor = _HEIGHT - _BOTTOM
    pieces = [
        f'<path class="axis" d="M{_LEFT},{_TOP}V{floor}H{_WIDTH - _RIGHT}"/>',
        f'<text x="{_LEFT - 6}" y="{_TOP + 8}" text-anchor="end">{high:.4g}</text>',
        f'<text x="{_LEFT - 6}" y="{floor}" text-anchor="end">{low:.4g}</text>',
        f'<text x="{_LEFT}" y="{floor + 15}">1</text>',
        f'<text x="{_WIDTH - _RIGHT}" y="{floor + 15}" text-anchor="end">{steps}</text>',
    ]
    for index, (name, points) in enumerate(drawn):
        places = [place(*point) for point in points]
        corners = " ".join(f"{x},{y}" for x, y in places)
        pieces.append(f'<polyline class="line-{index}" points="{corners}"/>')
        left, below = _LEFT + (index % 2) * 200, floor + 30 + 14 * (index // 2)
        pieces.append(f'<circle class="line-{index}" cx="{left + 4}" cy="{below - 4}" r="4"/>')
        for language, text in zip(("en", "zh"), name, strict=True):
            pieces.append(
                f'<text class="{language}" x="{left + 13}" y="{below}">{shown(text)}</text>'
            )
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="loss">{"".join(pieces)}</svg>'
    )


def _points(values: Sequence[float | None]) -> list[tuple[int, float]]:
    return [
        (step, value)
        for step, value in enumerate(values, start=1)
        if value is not None and math.isfinite(value)
    ]
