"""Questions that lead to each other: answered once, in circles too.

A question that is asked again while it is being answered gets what is known of it so far, at
first nothing; it is then answered again until the answer stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

Answer: TypeAlias = tuple[Any, ...]

# More than people write: what leads further is given up.
_DEEPEST = 70
_MOST_STEPS = 4000
_MOST_ROUNDS = 4
_NEVER = 1_000_000


class _Open:
    """A question that is being answered."""

    __slots__ = ("depth", "is_met", "so_far")

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.so_far: Answer = ()
        self.is_met = False


class Questions:
    """Remembers answers; `given_up` is the answer that stands for no answer."""

    def __init__(self, given_up: Answer) -> None:
        self._given_up = given_up
        self._known: dict[Hashable, Answer] = {}
        self._open: dict[Hashable, _Open] = {}
        # Answers that rest on open questions, with the outermost of these.
        self._resting: dict[Hashable, tuple[Answer, int]] = {}
        self._outermost = _NEVER
        self._steps = 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known

    def known(self, key: Hashable) -> Answer:
        return self._known[key]

    def ask(self, key: Hashable, answer: Callable[[], Answer]) -> Answer:
        """Give the answer to a question, from `answer` when it is asked first."""
        known = self._known.get(key)
        if known is None:
            known = self._so_far(key)
        if known is not None:
            return known
        if not self._open:
            return self._ask_first(key, answer)
        self._steps += 1
        if len(self._open) >= _DEEPEST or self._steps > _MOST_STEPS:
            self._outermost = -1
            return self._given_up
        return self._answer(key, answer)

    def _so_far(self, key: Hashable) -> Answer | None:
        """What is known of a question that rests on open ones, or is open itself."""
        if key in self._resting:
            found, depth = self._resting[key]
        elif key in self._open:
            asked = self._open[key]
            asked.is_met = True
            found, depth = asked.so_far, asked.depth
        else:
            return None
        self._outermost = min(self._outermost, depth)
        return found

    def _ask_first(self, key: Hashable, answer: Callable[[], Answer]) -> Answer:
        self._steps = 0
        self._outermost = _NEVER
        try:
            self._known[key] = self._answer(key, answer)
        except RecursionError:
            self._known[key] = self._given_up
        finally:
            self._open.clear()
            self._resting.clear()
        return self._known[key]

    def _answer(self, key: Hashable, answer: Callable[[], Answer]) -> Answer:
        outermost_before, self._outermost = self._outermost, _NEVER
        resting_before = len(self._resting)
        asked = self._open[key] = _Open(len(self._open))
        for _ in range(_MOST_ROUNDS):
            found = answer()
            if not asked.is_met or set(found) == set(asked.so_far):
                break
            asked.so_far = found
            self._forget(resting_before)
        else:
            found = self._given_up
        del self._open[key]
        self._remember(key, found, asked.depth, resting_before)
        self._outermost = min(self._outermost, outermost_before)
        return found

    def _remember(self, key: Hashable, found: Answer, depth: int, resting_before: int) -> None:
        if self._outermost < depth:
            self._resting[key] = (found, self._outermost)
            return
        if len(self._resting) > resting_before:
            for other in list(self._resting)[resting_before:]:
                self._known[other] = self._resting.pop(other)[0]
        self._known[key] = found
        self._outermost = _NEVER

    def _forget(self, resting_before: int) -> None:
        for other in list(self._resting)[resting_before:]:
            del self._resting[other]
