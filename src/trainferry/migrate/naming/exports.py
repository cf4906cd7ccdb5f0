"""What a file says it exports: `__all__`."""

from __future__ import annotations

import ast


class Exports:
    """The names in `__all__`, as far as they are written out; `names` is None without it."""

    def __init__(self) -> None:
        self.names: set[str] | None = None
        self.are_known = True
        self._are_set = False

    def note(self, target: ast.expr, value: ast.expr, *, adds: bool) -> None:
        """Note `target = value`, or `target += value`, if it is about `__all__`."""
        if not (isinstance(target, ast.Name) and target.id == "__all__"):
            return
        names = _strings(value)
        if names is None or (self._are_set and not adds):
            self.are_known = False
        self._are_set = self._are_set or not adds
        self.names = (self.names or set()) | (names or set())

    def note_call(self, value: ast.expr) -> None:
        """Note `__all__.extend(…)` and `__all__.append(…)`."""
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
            return
        if value.func.attr in ("extend", "append"):
            adds_many = value.func.attr == "extend" and len(value.args) == 1
            added = value.args[0] if adds_many else ast.List(elts=value.args, ctx=ast.Load())
            self.note(value.func.value, added, adds=True)


def _strings(value: ast.expr) -> set[str] | None:
    if not isinstance(value, ast.List | ast.Tuple):
        return None
    names = [
        item.value
        for item in value.elts
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]
    return set(names) if len(names) == len(value.elts) else None
