"""How a run shows itself while it trains: a bar on a terminal, plain lines in a pipe."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from trainferry.counted import counted

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from trainferry.train.journal import Ended, Evaluated, Event, Logged
    from trainferry.train.tasks.task import Example


_PLAIN_SECONDS = 5.0
# Beginnings of names; the journal has the others.
_SHOWN_SCORES = ("top", "sequence_", "character_", "edit_")
_WIDE = 110  # columns of a terminal that has room for every figure


class Show(Protocol):
    """Shows events to a person."""

    def write(self, event: Event) -> None:
        """Show one event."""

    def close(self) -> None:
        """Leave the screen tidy."""


def open_show(steps: int) -> Show:
    """Return the bar if a person looks at it and rich is installed, else plain lines."""
    if not sys.stderr.isatty():
        return PlainShow(steps)
    try:
        return BarShow(steps)
    except ImportError:
        return PlainShow(steps)


class PlainShow:
    """One line per event, on stderr."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def write(self, event: Event) -> None:
        if text := describe(event, self._steps):
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing is left open."""


class BarShow:
    """A progress bar with the newest figures beside it."""

    def __init__(self, steps: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
        from rich.table import Column

        self._steps = steps
        whole = Column(no_wrap=True, min_width=6 + 2 * len(str(steps)))
        self._bar: Progress = Progress(
            SpinnerColumn(),
            TextColumn("[bold]step[/] {task.completed:.0f}/{task.total:.0f}", table_column=whole),
            BarColumn(bar_width=None, table_column=Column(ratio=1, min_width=1)),
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            console=Console(stderr=True),
            expand=True,
        )
        self._task: TaskID = self._bar.add_task("starting", total=steps)
        self._bar.start()

    def write(self, event: Event) -> None:
        from trainferry.train.journal import Logged, Saved, Started

        if isinstance(event, Started):
            self._bar.update(self._task, completed=event.step)
        if isinstance(event, Logged):
            narrow = self._bar.console.width < _WIDE
            figures = _figures(event, few=narrow)
            self._bar.update(self._task, completed=event.step, description=figures)
        elif not isinstance(event, Saved) and (text := describe(event, self._steps)):
            self._bar.console.print(text, markup=False, highlight=True, soft_wrap=True)

    def close(self) -> None:
        self._bar.stop()


def describe(event: Event, steps: int) -> str:  # noqa: PLR0911  # one line per kind of event
    """Return an event in one line, or nothing where it needs none."""
    from trainferry.train.journal import Ended, Evaluated, Logged, Said, Saved, Started

    match event:
        case Started():
            return f"going on from step {event.step}" if event.step else ""
        case Logged():
            return f"step {event.step}/{steps}  {_figures(event)}"
        case Evaluated():
            return _scores(event)
        case Saved():
            return f"step {event.step}  saved {event.path}"
        case Said():
            return f"step {event.step}  note: {event.text}"
        case Ended():
            return _end(event)


def _end(event: Ended) -> str:
    from trainferry.devices.fallbacks import describe_fallbacks

    note = describe_fallbacks(event.cpu_operators)
    end = f"step {event.step}  {event.reason}, {duration(event.seconds)} of training"
    return f"{end}\nnote: {note}" if note else end


def duration(seconds: float) -> str:
    """Return seconds as people say them: 45 s, 12 min 05 s, 3 h 20 min."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _figures(event: Logged, *, few: bool = False) -> str:
    parts = [
        f"loss {event.loss:.3f}" if few else f"loss {event.loss:.4f}",
        "" if few else f"rate {event.learning_rate:.2e}",
        f"{event.images_per_second:,.0f} images/s",
        f"{event.waiting_share:.0%} waiting" + ("" if few else " for data"),
        f"{duration(event.seconds_left)} left",
    ]
    if event.overflows:
        parts.append(f"loss scale {event.loss_scale:g}, {counted(event.overflows, 'overflow')}")
    if event.skipped:
        parts.append(f"{counted(event.skipped, 'sample')} could not be read")
    return "  ".join(filter(None, parts))


def _scores(event: Evaluated) -> str:
    values = event.scores
    shares = "  ".join(
        f"{name.replace('_', ' ')} {values[name]:.2%}"
        for name in values
        if name.startswith(_SHOWN_SCORES)
    )
    tell = _named if "top1" in event.scores else _read
    read = ", ".join(map(tell, event.examples[:3]))
    best = "  (best so far)" if event.best else ""
    unreadable = values.get("unreadable", 0)
    lost = f", {unreadable:.0f} could not be read" if unreadable else ""
    return (
        f"step {event.step}  {shares}  loss {values['loss']:.4f}  "
        f"{counted(round(values['samples']), 'sample')}{lost}{best}"
        + (f"\n    {read}" if read else "")
    )


def _named(example: Example) -> str:
    right = example.truth == example.read
    return f"{example.truth!r} {'is right' if right else f'taken for {example.read!r}'}"


def _read(example: Example) -> str:
    return f"{example.truth!r} read as {example.read!r}"


@contextlib.contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal with rich installed, else a line now and then."""
    if not sys.stderr.isatty():
        yield _PlainProgress(what)
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield _PlainProgress(what)
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _PlainProgress:
    def __init__(self, what: str) -> None:
        self._what = what
        self._told = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self._told >= _PLAIN_SECONDS:
            self._told = time.monotonic()
            print(f"{done:,} of {total:,} {self._what}", file=sys.stderr, flush=True)
