"""Where a project counts the last, smaller batch as a step: `ceil(samples / batch_size)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.nodes import walk
from trainferry.migrate.phase_words import phase_of_words
from trainferry.migrate.rules._dataflow import constant
from trainferry.migrate.rules._imported import imported_files

_CEILINGS = frozenset(("math.ceil", "numpy.ceil"))
_WORD = re.compile(r"[a-z]+")


def rounded_up(file: File, size: ast.expr | None) -> tuple[File, ast.expr] | None:
    """An expression that rounds a division by a batch size up, and its file.

    Looked for in the file, in those that it imports, and in those that import it; what is named
    after evaluation or prediction is left out.
    """
    name = None if size is None else _last_name(size)
    if name is None:
        return None
    for other in _around(file):
        for found in other.once(_find):
            if any(_last_name(one) == name for one in walk(_divisor(found))):
                return other, found
    return None


def _around(file: File) -> Iterator[File]:
    yield file
    yield from imported_files(file)
    for other in file.project.files:
        if other is not file and any(one is file for one in imported_files(other)):
            yield other


def _find(file: File) -> list[ast.expr]:
    """All such expressions of a file that may count steps of training."""
    calls = (
        one
        for one in file.nodes(ast.Call)
        if file.full_name(one.func) in _CEILINGS and one.args and _divisions(one.args[0])
    )
    sums = (
        one
        for one in file.nodes(ast.BinOp)
        if isinstance(one.op, ast.Add) and constant(one.right) == 1 and _divides_whole(one.left)
    )
    return [one for one in (*calls, *sums) if _may_train(file, one)]


def _divides_whole(node: ast.expr) -> bool:
    """`a // b` or `int(a / b)`."""
    if isinstance(node, ast.Call):
        is_int = isinstance(node.func, ast.Name) and node.func.id == "int"
        return is_int and len(node.args) == 1 and isinstance(node.args[0], ast.BinOp)
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv)


def _divisions(node: ast.expr) -> list[ast.BinOp]:
    return [
        one
        for one in walk(node)
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div | ast.FloorDiv)
    ]


def _divisor(node: ast.expr) -> ast.expr:
    """What the outermost division of an expression divides by."""
    divisions = _divisions(node)
    return divisions[0].right if divisions else node


def _may_train(file: File, node: ast.expr) -> bool:
    function = file.function(node)
    text = file.text(file.statement(node)) + ("" if function is None else f" {function.name}")
    return phase_of_words(_WORD.findall(text.lower())) in ("train", "both", None)


def _last_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        key = constant(node.slice)
        return key if isinstance(key, str) else None
    return node.id if isinstance(node, ast.Name) else None
