"""Training under a debugging switch, as `train --debug` does it."""

from __future__ import annotations

import contextlib

from trainferry.train.debug.attach import attach_observers
from trainferry.train.debug.switches import parse_switches
from trainferry.train.journal import Event, Said
from trainferry.train.loop import train
from trainferry.train.run import Run


def train_watched(run: Run, switch: str) -> list[str]:
    """Train, and return what was said."""
    events: list[Event] = []
    observers = attach_observers(run, parse_switches([switch]), events.append)
    with contextlib.closing(observers):
        train(run, events.append, observers)
    return [event.text for event in events if isinstance(event, Said)]
