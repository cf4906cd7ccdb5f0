"""Writes how the script ended, as far as it can be known from inside."""

import atexit
import sys
import threading
import traceback

from . import limit, steps
from .facts_file import write_fact

_LONGEST = 2000
_told = {}
_lock = threading.Lock()


def install():
    """Listen for the end of the interpreter and for an error that nobody catches."""
    sys.excepthook = _listening(sys.excepthook)
    atexit.register(write_end)


def write_end():
    """Write the last fact, once."""
    with _lock:
        if "end" in _told:
            return
        _told["end"] = True
    fields = limit.facts() or {"reason": "script", "cut": False}
    if "error" in _told:
        fields = {"reason": "error", "cut": False}
    write_fact("end", steps=steps.count(), error=_told.get("error"), **fields)


def _listening(original):
    def hook(kind, error, trace):
        if not issubclass(kind, KeyboardInterrupt):
            lines = traceback.format_exception_only(kind, error)
            _told["error"] = "".join(lines).strip()[-_LONGEST:]
        original(kind, error, trace)

    return hook
