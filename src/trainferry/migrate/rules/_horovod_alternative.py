"""Whether a name is Horovod's or, where that cannot be imported, another package's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.rules._distributed import is_horovod


def is_package_or_another(file: File, node: ast.expr) -> bool:
    """Whether all that binds the name imports a package, which an NPU host does not have.

    A module of the project may be a stand-in for one device, and has to be looked at.
    """
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name):
        return False
    found = list(_bindings(file, node.id))
    return bool(found) and all(_is_package(file, one, node.id) for one in found)


def _bindings(file: File, name: str) -> Iterator[ast.AST]:
    for node in ast.walk(file.source.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            if any((one.asname or one.name) == name for one in node.names):
                yield node
        elif isinstance(node, ast.Name):
            if node.id == name and not isinstance(node.ctx, ast.Load):
                yield node
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name == name:
                yield node
        elif isinstance(node, ast.arg) and node.arg == name:
            yield node


def _is_package(file: File, binding: ast.AST, name: str) -> bool:
    if isinstance(binding, ast.Import):
        paths = [one.name for one in binding.names if (one.asname or one.name) == name]
    elif isinstance(binding, ast.ImportFrom) and not binding.level:
        paths = [f"{binding.module}.{one.name}" for one in binding.names]
    else:
        return False
    if not isinstance(file.parent(binding), ast.Try | ast.ExceptHandler):
        return False
    return all(is_horovod(path) or not _is_own(file, path) for path in paths)


def _is_own(file: File, path: str) -> bool:
    parts = path.split(".")
    return any(
        file.names.own_source(place) is not None
        for end in range(1, len(parts) + 1)
        for place in file.names.own_modules(file.source, tuple(parts[:end]), 0)
    )
