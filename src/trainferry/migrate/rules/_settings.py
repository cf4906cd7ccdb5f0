"""How wrong settings for the NPU are told."""

from __future__ import annotations

from collections.abc import Iterable

from trainferry.migrate.parameter_table import Consequence, ParameterProblem
from trainferry.migrate.rule import Concern

_CONCERNS = {
    Consequence.REFUSED: Concern.RUN,
    Consequence.IGNORED: Concern.RESULT,
    Consequence.REPLACED: Concern.RESULT,
    Consequence.UNDEFINED: Concern.RESULT,
    Consequence.DEPRECATED: Concern.TIDY,
}
_MODES = frozenset(("all", "aicore_overflow", "atomic_overflow", "input", "output"))


def text_of(problem: ParameterProblem) -> str:
    return f"{problem.message}: {problem.consequence.value}; {problem.hint}"


def concern_of(problem: ParameterProblem) -> Concern:
    return _CONCERNS[problem.consequence]


def is_needed(problem: ParameterProblem, names: Iterable[str]) -> bool:
    """Whether a deprecated setting is in its one good use: batches for a loop on the device."""
    is_old = problem.consequence is Consequence.DEPRECATED
    return is_old and problem.name == "enable_data_pre_proc" and "iterations_per_loop" in names


def swapped(key: str, value: object, variable: str) -> str:
    """What to do when a path stands where a mode belongs, or a mode where the path belongs."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else value
    if key == "dump_path" and (
        text in _MODES or (variable.startswith("dump_") and "mode" in variable)
    ):
        return "give it a folder; a mode goes to `dump_mode` or `dump_debug_mode`"
    is_path = isinstance(text, str) and "/" in text
    if key in ("dump_mode", "dump_debug_mode") and (
        is_path or variable.endswith(("_path", "_dir"))
    ):
        return f"the folder goes to `dump_path`; `{key}` takes words such as `all`"
    return ""
