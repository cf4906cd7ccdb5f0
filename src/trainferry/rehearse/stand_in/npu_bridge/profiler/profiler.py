"""Stands in for the profiler: the same rules for its use, but nothing is measured."""

import os

from trainferry_stand_in.errors import RefusedValue
from trainferry_stand_in.notes import note

_open = []
_METRICS = (
    "",
    "ArithmeticUtilization",
    "PipeUtilization",
    "Memory",
    "MemoryL0",
    "MemoryUB",
    "ResourceConflictRatio",
    "L2Cache",
)


class Profiler:
    """Measures what runs inside its `with`; one at a time."""

    def __init__(self, *, level="L0", aic_metrics="", output_path=""):
        if level not in ("L0", "L1", "L2"):
            raise RefusedValue(f"Profiler: level is L0, L1 or L2, not {level!r}")
        if aic_metrics not in _METRICS:
            raise RefusedValue(f"Profiler: there is no metric {aic_metrics!r}")
        if output_path and not os.path.isdir(output_path):
            raise RefusedValue(f"Profiler: make the folder {output_path!r} first")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.stop()

    def start(self):
        if _open:
            raise RefusedValue("Profiler: profilers cannot be nested")
        _open.append(self)
        note("not-profiled", "`Profiler` measures on the device only; no profile is written here")

    def stop(self):
        _open.remove(self)
