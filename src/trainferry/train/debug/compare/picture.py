"""A picture of a comparison: both losses, how far they are apart, and how far the layers are."""

from __future__ import annotations

import io
import math
from pathlib import Path

from trainferry.errors import DataError
from trainferry.train.data.whole_file import write_whole
from trainferry.train.debug.compare.chart import Chart, Line, draw_chart, stack_charts
from trainferry.train.debug.compare.compare import Comparison, LayerComparison
from trainferry.train.debug.compare.curves import Curves

_ONE, _OTHER, _APART = "#2563eb", "#d97706", "#15803d"
_WIDE = 20  # losses that fall further than that are drawn on a logarithmic scale


def comparison_picture(comparison: Comparison, names: tuple[str, str], path: Path) -> None:
    """Write the picture as a PNG."""
    charts = []
    if comparison.curves is not None and (comparison.curves.one or comparison.curves.other):
        charts += [_losses(comparison.curves, names), _losses_apart(comparison.curves)]
    charts += [_layers(each) for each in comparison.layers]
    if not charts:
        raise DataError(
            "there is nothing to draw: neither losses nor layers were compared",
            hint="compare runs with a journal.jsonl, or with checkpoints",
        )
    target = io.BytesIO()
    stack_charts([draw_chart(chart) for chart in charts]).save(target, "PNG")
    write_whole(path, target.getvalue())


def _losses(curves: Curves, names: tuple[str, str]) -> Chart:
    values = [v for v in (*curves.one.values(), *curves.other.values()) if math.isfinite(v)]
    wide = bool(values) and min(values) > 0 and max(values) / min(values) > _WIDE
    lines = [
        Line(name, sorted(curve.items()), colour, width)
        for name, curve, colour, width in (
            (names[0], curves.one, _ONE, 7),
            (names[1], curves.other, _OTHER, 3),
        )
    ]
    apart = curves.first_apart
    title = "loss: " + (
        f"within {curves.tolerance:g} at all {len(curves.steps)} common steps"
        if apart is None
        else f"first apart by more than {curves.tolerance:g} at step {apart}"
    )
    return Chart(title, lines, "step", is_logarithmic=wide, mark=apart)


def _losses_apart(curves: Curves) -> Chart:
    points = [(float(step), curves.relative(step)) for step in curves.steps]
    return Chart(
        "difference of the losses, in parts of the larger (nothing drawn: the same number)",
        [Line("difference", points, _APART)],
        "step",
        is_logarithmic=True,
        limit=curves.tolerance,
        mark=curves.first_apart,
    )


def _layers(layers: LayerComparison) -> Chart:
    points = [(float(n), each.relative) for n, each in enumerate(layers.differences, start=1)]
    first = layers.first_apart
    verdict = "within the tolerance" if first is None else f"first apart: {first.layer}"
    place = None if first is None else float(1 + layers.differences.index(first))
    return Chart(
        f"layers of {Path(layers.one).name} and {Path(layers.other).name}: {verdict}",
        [Line("largest difference, in parts of the largest value", points, _APART)],
        "layer, in the order of time",
        is_logarithmic=True,
        limit=layers.tolerance,
        mark=place,
    )
