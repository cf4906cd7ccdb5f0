"""This machine's part in the meeting: says every second how it is, and keeps the last answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from trainferry.launch.start.messages import Beat, View

Ask = Callable[[Beat], View]


class Member:
    """Runs a thread of its own, so that a network that hangs stops nothing else."""

    def __init__(self, beat: Beat, ask: Ask, *, seconds: float, silence_seconds: float) -> None:
        self._beat = beat
        self._ask = ask
        self._seconds = seconds
        self._silence_seconds = silence_seconds
        self._changed = threading.Condition()
        self._version = 0
        self._answered = -1
        self._heard = time.monotonic()
        self._failed_at: float | None = None
        self._problem = ""
        self._view: View | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._talk, daemon=True, name="meeting")
        self._thread.start()

    @property
    def beat(self) -> Beat:
        return self._beat

    @property
    def view(self) -> View | None:
        """The last answer; None before the first."""
        return self._view

    @property
    def silent_seconds(self) -> float:
        """How long the meeting has not answered."""
        return time.monotonic() - self._heard

    @property
    def is_cut_off(self) -> bool:
        return self._view is not None and self.silent_seconds > self._silence_seconds

    @property
    def problem(self) -> str:
        """Why the meeting does not answer, as the system says it."""
        return self._problem

    def say(self, **changes: Any) -> None:  # noqa: ANN401  # fields of a Beat
        """Tell the meeting something new, now and from now on."""
        with self._changed:
            self._failed_at = None
            if "failure" in changes:
                self._failed_at = time.monotonic() - float(changes.pop("failed_before", 0.0))
            self._beat = replace(self._beat, failure=None, reason="")
            self._beat = replace(self._beat, **changes)
            self._version += 1
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Until there is a new answer, or `seconds` have passed."""
        with self._changed:
            self._changed.wait(seconds)

    def wait_for(self, condition: Callable[[View], bool], seconds: float) -> View | None:
        """The first answer to what was said last that meets the condition; None without one."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while True:
                view = self._view
                if view and self._answered >= self._version and condition(view):
                    return view
                left = deadline - time.monotonic()
                if left <= 0 or self.is_cut_off:
                    return None
                self._changed.wait(min(left, 0.1))

    def leave(self, reason: str, seconds: float = 2.0) -> None:
        """Say goodbye, which may not be heard, and end the thread."""
        self.say(state="left", reason=reason)
        self.wait_for(lambda _: True, seconds)
        with self._changed:
            self._closing = True
            self._changed.notify_all()

    def _talk(self) -> None:
        while not self._closing:
            with self._changed:
                version, beat = self._version, self._beat
                if self._failed_at is not None:
                    beat = replace(beat, failed_before=time.monotonic() - self._failed_at)
            self._exchange(version, beat)
            pause = min(self._seconds, 0.5) if beat.state == "waiting" else self._seconds
            with self._changed:
                until = time.monotonic() + pause
                while self._version == version and not self._closing:
                    if (left := until - time.monotonic()) <= 0:
                        break
                    self._changed.wait(left)

    def _exchange(self, version: int, beat: Beat) -> None:
        try:
            view = self._ask(beat)
        except OSError as error:
            self._problem = error.strerror or str(error)
            return
        with self._changed:
            self._view = view
            self._answered = version
            self._heard = time.monotonic()
            self._problem = ""
            self._changed.notify_all()
