"""Remembers what was found for each name, and notices questions that end in themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from trainferry.migrate.naming.scopes import Scope
from trainferry.migrate.naming.targets import Mark, Target, agreed

Question: TypeAlias = tuple[Scope, str]

# More than people write: longer chains of aliases, and modules that import each other in more
# ways, are given up.
_LONGEST_CHAIN = 60
_MOST_STEPS = 300


class Answers:
    """What scopes bind names to; `find` answers a question, and may ask others on the way."""

    def __init__(self, find: Callable[[Question], Target]) -> None:
        self._find = find
        self._known: dict[Question, Target] = {}
        self._asked: dict[Question, None] = {}
        self._assumptions = 0
        self._steps = 0
        self.cycles_met = 0

    def are_final(self, cycles_before: int) -> bool:
        """Whether all answers since then hold wherever they are asked for."""
        return self.cycles_met == cycles_before and not self._assumptions

    def ask(self, question: Question) -> Target:
        if question in self._known:
            return self._known[question]
        self._steps = self._steps + 1 if self._asked else 0
        is_given_up = len(self._asked) >= _LONGEST_CHAIN or self._steps >= _MOST_STEPS
        if question in self._asked or is_given_up:
            self.cycles_met += 1  # so that nobody on the way remembers the answer
            return None if is_given_up else Mark.CYCLE
        self._asked[question] = None
        cycles_before = self.cycles_met
        try:
            target = self._find(question)
            has_cycle = self.cycles_met != cycles_before
            if has_cycle:
                target = self._checked(question, target)
        finally:
            del self._asked[question]
        if not self._assumptions and (not has_cycle or not self._asked):
            self._known[question] = target
        return target

    def _checked(self, question: Question, target: Target) -> Target:
        """Check an answer that was found without what it adds to itself.

        `tf = tf.compat.v1` says that `tf` is what `tf` is; `tf = tf.keras` does not.
        """
        if isinstance(target, Mark):
            return target if target is not Mark.CYCLE or len(self._asked) > 1 else None
        self._known[question] = target
        self._assumptions += 1
        try:
            again = self._find(question)
        finally:
            self._assumptions -= 1
            del self._known[question]
        return agreed([target, again])
