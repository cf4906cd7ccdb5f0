"""Sees which threads run collectives: of two at a time, the ranks share no order."""

import contextlib
import threading

from trainferry_stand_in import places
from trainferry_stand_in.calls import PLACE
from trainferry_stand_in.notes import note

_lock = threading.Lock()
_seen = {}
_running = set()


@contextlib.contextmanager
def running(collective):
    """Around a run that holds `collective`, an operator, and maybe others."""
    thread = threading.current_thread()
    line = places.user_line() or collective.get_attr(PLACE).decode("utf-8")
    with _lock:
        others = [other for other in _seen if other is not thread and _goes_on(other)]
        _seen[thread] = (collective.name, line)
        _running.add(thread)
    for other in others:
        _tell(thread if other is threading.main_thread() else other)
    try:
        yield
    finally:
        _running.discard(thread)


def _goes_on(thread):
    """The main thread always lives; it counts while it runs a collective itself."""
    return thread in _running or (thread.is_alive() and thread is not threading.main_thread())


def _tell(second):
    work = getattr(second, "_target", None) or type(second)
    name, line = _seen[second]
    note(
        "collectives-in-threads",
        f"a second thread, `{work.__name__}`, runs collectives beside the training, `{name}` first:"
        " ranks run them in no common order",
        line,
    )
