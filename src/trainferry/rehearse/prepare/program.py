"""How Python is told to start a script: as a file, or as a module of its package."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path, PurePosixPath


def start_of(root: Path, entry: PurePosixPath) -> tuple[str, ...]:
    """The script itself; `-m package.train` where it imports from its own package.

    `from .model import Model` works in modules only. They are found from `root`, where it runs.
    """
    parts = entry.with_suffix("").parts
    is_in_package = len(parts) > 1 and all(part.isidentifier() for part in parts)
    if not (is_in_package and _imports_from_package(root / entry)):
        return (str(root / entry),)
    return "-m", ".".join(parts[:-1] if parts[-1] == "__main__" else parts)


def _imports_from_package(script: Path) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it would warn of is the interpreter's to say
            body = ast.parse(script.read_bytes()).body
    except (SyntaxError, ValueError):  # the interpreter that runs it may be another
        return False
    return any(isinstance(one, ast.ImportFrom) and one.level for one in body)
