"""A comparison as a person reads it: a table in a terminal, plain lines in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trainferry.counted import counted

if TYPE_CHECKING:
    from trainferry.train.debug.compare.compare import Comparison, LayerComparison
    from trainferry.train.debug.compare.curves import Curves
    from trainferry.train.debug.compare.difference import Difference

FEW = 30
"""Up to so many layers all are shown, else those around the parting and the worst."""

_BEFORE, _AFTER, _WORST = 3, 5, 5
_MOST_STEPS = 12
_LONGEST_VALUE = 60
_NUMBERS = 2  # columns of text before those of numbers

Rows = list[tuple[str, ...]]


def print_comparison(comparison: Comparison) -> None:
    """Print what differs, the layers, the losses, and the verdict."""
    _print_made(comparison.made_differently)
    for layers in comparison.layers:
        _print_layers(layers)
    if comparison.curves is not None:
        _print_losses(comparison.curves)
    for line in verdict_lines(comparison):
        print(line)


def verdict_lines(comparison: Comparison) -> list[str]:
    """Return where they part, or that they do not."""
    lines = []
    for layers in comparison.layers:
        names = f"{layers.one} and {layers.other}"
        first = layers.first_apart
        if first is None:
            same = not any(each.relative for each in layers.differences)
            how = "the very same values" if same else f"the same within {layers.tolerance:g}"
            lines.append(
                f"layers: {how} in all {counted(len(layers.differences), 'place')}, {names}"
            )
        else:
            why = first.reason or f"apart by {first.relative:.2g} of its largest value"
            lines.append(
                f"layers: part at {first.layer} ({first.kind}), {first.name}: {why}; "
                f"{layers.tolerance:g} is allowed, {names}"
            )
    if comparison.curves is not None:
        lines.append(_loss_verdict(comparison.curves))
    return lines


def shown_places(layers: LayerComparison) -> list[int]:
    """Return which of the layers are worth a line, in their order."""
    count = len(layers.differences)
    if count <= FEW:
        return list(range(count))
    worst = sorted(range(count), key=lambda place: -layers.differences[place].relative)[:_WORST]
    first = layers.first_apart
    around: set[int] = set()
    if first is not None:
        place = layers.differences.index(first)
        around = set(range(max(place - _BEFORE, 0), min(place + _AFTER, count)))
    return sorted({0, count - 1, *worst, *around})


def _print_made(differences: dict[str, tuple[Any, Any]]) -> None:
    if not differences:
        print("made in the same way: recipe, data, device and versions\n")
        return
    rows: Rows = [(name, _cut(pair[0]), _cut(pair[1])) for name, pair in differences.items()]
    _print_table("made differently", ("what", "first", "second"), rows, numbers_from=3)


def _print_layers(layers: LayerComparison) -> None:
    rows: Rows = []
    before = -1
    for place in shown_places(layers):
        if place > before + 1:
            rows.append((f"… {place - before - 1} more", *[""] * 7))
        rows.append(_row(layers.differences[place], layers.tolerance))
        before = place
    titles = ("layer", "what", "kind", "largest", "in second", "apart by", "relative", "cosine")
    title = f"layers of {layers.one} and {layers.other}, tolerance {layers.tolerance:g}"
    _print_table(title, titles, rows, numbers_from=3)


def _row(each: Difference, tolerance: float) -> tuple[str, ...]:
    mark = " *" if each.parts(tolerance) else ""
    if each.reason is not None:
        return (each.layer + mark, each.name, each.kind, "", "", each.reason, "", "")
    return (
        each.layer + mark,
        each.name,
        each.kind,
        f"{each.one.largest:.4g}",
        f"{each.other.largest:.4g}",
        f"{each.largest_difference:.2g}",
        f"{each.relative:.2g}",
        "-" if each.cosine is None else f"{each.cosine:.6f}",
    )


def _print_losses(curves: Curves) -> None:
    steps = curves.steps
    if not steps:
        return
    shown = steps[:: max(-(-len(steps) // _MOST_STEPS), 1)]
    chosen = sorted({*shown, steps[-1], *filter(None, [curves.first_apart])})
    rows: Rows = [
        (
            f"{step}{' *' if not curves.relative(step) <= curves.tolerance else ''}",
            f"{curves.one[step]:.6g}",
            f"{curves.other[step]:.6g}",
            f"{curves.relative(step):.2g}",
        )
        for step in chosen
    ]
    title = f"losses, tolerance {curves.tolerance:g} of the larger"
    _print_table(title, ("step", "first", "second", "apart by"), rows, numbers_from=0)


def _loss_verdict(curves: Curves) -> str:
    steps = curves.steps
    if not steps:
        return "losses: the journals have no step in common"
    where = "the only step" if len(steps) == 1 else f"all {len(steps):,} steps"
    where += " that both logged"
    if curves.first_different is None:
        return f"losses: the very same numbers at {where}"
    if curves.first_apart is None:
        largest = max(map(curves.relative, steps))
        return (
            f"losses: within {curves.tolerance:g} at {where}, apart by {largest:.2g} at most, "
            f"first different at step {curves.first_different}"
        )
    step = curves.first_apart
    return (
        f"losses: part at step {step}, {curves.one[step]:.6g} and {curves.other[step]:.6g}; "
        f"{curves.tolerance:g} of the larger is allowed, first different at step "
        f"{curves.first_different}"
    )


def _print_table(title: str, titles: Sequence[str], rows: Rows, *, numbers_from: int) -> None:
    if sys.stdout.isatty() and _print_rich(title, titles, rows, numbers_from):
        return
    cells = [tuple(titles), *rows]
    widths = [max(len(line[place]) for line in cells) for place in range(len(titles))]
    print(title)
    for line in cells:
        padded = [
            text.rjust(width) if place >= numbers_from else text.ljust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  " + "  ".join(padded).rstrip())
    print()


def _print_rich(title: str, titles: Sequence[str], rows: Rows, numbers_from: int) -> bool:
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return False
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for place, name in enumerate(titles):
        table.add_column(
            name, justify="right" if place >= numbers_from else "left", no_wrap=place == 0
        )
    for row in rows:
        style = "red" if row[0].endswith(" *") else ""
        table.add_row(*(Text(text) for text in row), style=style)
    Console().print(table)
    return True


def _cut(value: Any) -> str:  # noqa: ANN401  # a value of a recipe
    text = "-" if value is None else str(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
