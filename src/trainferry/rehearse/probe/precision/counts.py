"""Counts what rounding did to the numbers of each operator, and writes it after each step."""

import json
import os
import threading

import numpy as np

FILE = "precision.jsonl"


class Counts:
    """The counts of the step that runs."""

    def __init__(self, folder):
        self._path = os.path.join(folder, FILE)
        self._lock = threading.Lock()
        self._counts = {}
        self._operators = {}
        self.overflowed = 0

    def rounding(self, kind, operator, type_name, place):
        """A function that rounds, and counts for the operator of this name."""
        self._operators[operator] = {"operator": operator, "type": type_name, "place": place}

        def rounded(array):
            result = kind.rounded(array)
            before, after = np.count_nonzero(array), np.count_nonzero(result)
            overflow = 0
            if not np.isfinite(np.sum(result, dtype=np.float64)):
                overflow = int(np.sum(np.isfinite(array) & ~np.isfinite(result)))
            with self._lock:
                counts = self._counts.setdefault(operator, [0, 0, 0])
                counts[0] += overflow
                counts[1] += before - after
                counts[2] += before
                self.overflowed = max(self.overflowed, min(overflow, 1))
            return result

        return rounded

    def clear(self):
        """Begin a step."""
        with self._lock:
            self._counts = {}
            self.overflowed = 0

    def write(self, step):
        """Write what the step did, where it did anything."""
        with self._lock:
            counts, self._counts = self._counts, {}
        for operator, (overflow, underflow, nonzero) in counts.items():
            if overflow or underflow:
                self.tell(
                    "rounded",
                    step=step,
                    overflow=overflow,
                    underflow=int(underflow),
                    nonzero=int(nonzero),
                    **self._operators[operator],
                )

    def tell(self, kind, **fields):
        """Write one line."""
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(dict(kind=kind, **fields)) + "\n")
