"""Work that a thread does a little ahead of whoever needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Generic, TypeVar

import torch

from trainferry.devices.device import same_device_elsewhere

Given = TypeVar("Given")
Made = TypeVar("Made")

_LOOK_SECONDS = 0.1  # between looks whether anybody still wants what is made
_LEAVE_SECONDS = 5.0  # for the thread; one that waits for a file longer ends with the program


def make_ahead(items: Iterator[Given], make: Callable[[Given], Made], most: int) -> Iterator[Made]:
    """Yield what `make` makes of the items, in order; up to `most` are ready at a time.

    Errors are raised where the item would have come. The thread has left when this is closed.
    """
    shelf = _Shelf[Made](most)
    use_same_device = same_device_elsewhere()

    def work() -> None:
        try:
            use_same_device()
            torch.set_num_threads(1)  # those of its operators would spin beside others
            for item in items:
                if not shelf.put(make(item)):
                    return
        except BaseException as error:  # noqa: BLE001  # raised again where it is taken
            shelf.put(_End(error))
        else:
            shelf.put(_End())

    thread = Thread(target=work, name="make ahead", daemon=True)
    thread.start()
    try:
        yield from shelf.take_all()
    finally:
        shelf.close()
        thread.join(_LEAVE_SECONDS)


@dataclass(frozen=True)
class _End:
    error: BaseException | None = None


class _Shelf(Generic[Made]):
    """Where things lie until they are taken; whoever puts them there waits for room."""

    def __init__(self, most: int) -> None:
        self._things: Queue[Made | _End] = Queue(most)
        self._is_closed = Event()

    def put(self, thing: Made | _End) -> bool:
        """Return whether there was room for it before the shelf was closed."""
        while not self._is_closed.is_set():
            try:
                self._things.put(thing, timeout=_LOOK_SECONDS)
            except Full:
                continue
            return True
        return False

    def take_all(self) -> Iterator[Made]:
        while not isinstance(thing := self._things.get(), _End):
            yield thing
        if thing.error is not None:
            raise thing.error

    def close(self) -> None:
        """Let go of what nobody will take."""
        self._is_closed.set()
        while True:
            try:
                self._things.get_nowait()
            except Empty:
                return
