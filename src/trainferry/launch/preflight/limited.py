"""Questions to libraries that may never answer, each with a limit.

torch's store, and the libraries of devices, wait without end where the other side is silent:
a machine that was cut off, or another program at the port. What does not come back stays in a
thread of its own, and the process ends without it.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")

_NAME = "preflight-question"


def start_limited(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, name=_NAME, daemon=True)
    thread.start()
    return thread


def ask_within(seconds: float, question: Callable[[], Answer]) -> Answer:
    """The answer, or what the question raises; TimeoutError where neither comes in time."""
    answers: queue.SimpleQueue[tuple[Answer] | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put((question(),))
        except Exception as error:  # noqa: BLE001 (raised where the answer is waited for)
            answers.put(error)

    start_limited(ask)
    try:
        answer = answers.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"no answer within {seconds:.0f} s") from None
    if isinstance(answer, Exception):
        raise answer
    return answer[0]


def is_stuck() -> bool:
    """Whether something asked for has not come back."""
    return any(thread.name == _NAME for thread in threading.enumerate())
