"""Ends a rehearsal after the steps that were asked for, as gently as the script allows.

Estimators and monitored sessions, supervisors (slim) and Keras are told to stop, and the script
goes on after its training: it evaluates (not longer than it trained), saves, closes. A loop of its
own can only be left by an exception: the train step after the last raises `RehearsalIsOver`, a
SystemExit, which `except Exception` does not catch and `finally` and `with` do see.
"""

import os
import sys
import threading
import time
import weakref

from .facts_file import write_fact
from .settings import settings

_PATIENCE_SECONDS = 20.0
_THREADS_SECONDS = 10.0
_trained = weakref.WeakSet()
_ended = {}
_loop = {}


class RehearsalIsOver(SystemExit):
    """All steps that the rehearsal asked for are done."""

    def __init__(self):
        super().__init__(0)


def steps():
    """How many train steps were asked for; None for as many as the script makes."""
    return settings().get("steps")


def is_reached():
    return "reached" in _ended


def note_begin(run):
    _trained.add(run.graph)


def note_failure():
    """A step that failed is not the last."""
    _ended.pop("reached", None)


def note_end(run, number, values):
    """Note that a step is done, and where in a loop of the device it was."""
    if run.loop > 1:
        done = _loop["done"] + 1 if _loop.get("run") is run else 1
        _loop.update(run=run, done=done, values=values)
    if number == steps():
        _ended["reached"] = True


def after_last_step(run):
    """What a train step beyond the last does."""
    if run.loop > 1 and _loop.get("run") is run and _loop["done"] % run.loop:
        # The rest of one loop on the device: to the script it is one run.
        _loop["done"] += 1
        stop_was_forced()
        return _loop["values"]
    _leave()
    raise RehearsalIsOver


def stop_was_forced():
    """Note that the script was told to stop training."""
    _ended["forced"] = True


def has_trained(graph):
    return graph in _trained


def facts():
    """How the limit ended the run, for the last fact; None where it did not."""
    if "left" in _ended:
        return {"reason": "limit", "cut": True}
    if "forced" in _ended:
        return {"reason": "limit", "cut": False}
    return None


def _leave():
    now = time.monotonic()
    if "left" not in _ended:
        _ended["left"] = now
        sys.stderr.write(
            f"trainferry rehearse: {steps()} train steps are done; ending the script\n"
        )
        threading.Thread(target=_end_with_main_thread, daemon=True).start()
    elif now - _ended["left"] > _PATIENCE_SECONDS:
        _exit("the script caught the end of the rehearsal and went on")


def _end_with_main_thread():
    """Do not wait for ever for threads that the script left running."""
    while threading.main_thread().is_alive():
        time.sleep(0.1)
    time.sleep(_THREADS_SECONDS)
    _exit("threads of the script were still running")


def _exit(how):
    from .ending import write_end

    write_fact("forced_exit", text=how)
    write_end()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
