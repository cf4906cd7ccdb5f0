"""Code that runs only where a name is there: behind `try`, `hasattr` or a test of the version."""

from __future__ import annotations

import ast
import re

from trainferry.migrate.file import File

_CAUGHT = frozenset(
    ("AttributeError", "BaseException", "Exception", "ImportError", "ModuleNotFoundError")
)
_TESTS = re.compile(r"hasattr|getattr|version|(^|[^a-z])v[12]([^a-z]|$)|tf_?v?[12]", re.IGNORECASE)


def is_guarded(file: File, node: ast.AST) -> bool:
    """Whether the project itself sees to it that a name may not be there; rather yes than no."""
    below = node
    for above in file.parents(node):
        if isinstance(above, ast.Try) and _catches(above) and below not in above.finalbody:
            return True
        if isinstance(above, ast.If | ast.IfExp | ast.While) and _asks(file, above.test):
            return True
        if isinstance(above, ast.BoolOp) and any(_asks(file, one) for one in above.values):
            return True
        below = above
    function = file.function(node)
    return function is not None and any(
        _asks(file, one.test) and isinstance(one.body[-1], ast.Return | ast.Raise)
        for one in file.inside(function, ast.If)
    )


def _catches(one: ast.Try) -> bool:
    caught = [
        kind
        for handler in one.handlers
        for kind in (handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type])
    ]
    return any(kind is None or getattr(kind, "id", "") in _CAUGHT for kind in caught)


def _asks(file: File, test: ast.expr) -> bool:
    return _TESTS.search(file.text(test)) is not None
