"""Star imports of a file, and what else gives its names a meaning."""

from __future__ import annotations

import ast

from trainferry.migrate.file import File
from trainferry.migrate.surface import star_names

_MODULE = "npu_bridge.npu_init"


def stars(file: File) -> list[ast.ImportFrom]:
    return [
        one
        for one in file.imports
        if isinstance(one, ast.ImportFrom) and any(alias.name == "*" for alias in one.names)
    ]


def npu_stars(file: File) -> list[ast.ImportFrom]:
    return [one for one in stars(file) if one.module == _MODULE and not one.level]


def uses_star(file: File) -> bool:
    """Whether a name comes from the star, which also brings `os`."""
    return any(
        isinstance(node, ast.Name) and node.id in star_names() and not binds(file, node.id)
        for node in ast.walk(file.source.tree)
    )


def binds(file: File, name: str) -> bool:
    """Whether anything but a star import gives the name a meaning in the file."""
    for node in ast.walk(file.source.tree):
        if isinstance(node, ast.Name):
            found = node.id if isinstance(node.ctx, ast.Store) else ""
        elif isinstance(node, ast.alias):
            found = node.asname or node.name.partition(".")[0]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found = node.name
        else:
            found = node.arg if isinstance(node, ast.arg) else ""
        if found == name:
            return True
    return False
