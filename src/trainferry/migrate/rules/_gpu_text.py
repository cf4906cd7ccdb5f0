"""Texts that name a GPU, as they are given to `tf.device`."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.read import Source

_WHOLE = re.compile(r"/?(device:)?gpu(:(\d+|\*)?)?", re.IGNORECASE)
_TEMPLATE = re.compile(r"/?(device:)?gpu:(%[dsi]|\{[^{}]*\})?", re.IGNORECASE)
_HARMLESS = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.Tuple,
    ast.Load,
    ast.BinOp,
    ast.operator,
)


def is_gpu(node: ast.expr) -> bool:
    """Whether an expression is a text for a GPU, written or formatted."""
    return _is_written(node) or is_formatted(node)


def is_formatted(node: ast.expr) -> bool:
    """`"/gpu:%d" % i`, `"/gpu:{}".format(i)`, `f"/gpu:{i}"`, `"/gpu:" + str(i)`."""
    template, parts = _template(node)
    return template is not None and _TEMPLATE.fullmatch(template) is not None and _all_plain(parts)


def _is_written(node: ast.expr) -> bool:
    text = _text(node)
    return text is not None and _WHOLE.fullmatch(text) is not None


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _template(node: ast.expr) -> tuple[str | None, list[ast.expr]]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.Add):
        return _text(node.left), [node.right]
    if isinstance(node, ast.JoinedStr):
        inserted = [one for one in node.values if isinstance(one, ast.FormattedValue)]
        text = "".join(_text(one) or "{}" for one in node.values)
        return text, [one.value for one in inserted]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".format"):
        assert isinstance(node.func, ast.Attribute)
        return (None if node.keywords else _text(node.func.value)), node.args
    return None, []


def _all_plain(parts: list[ast.expr]) -> bool:
    """Whether nothing happens but reading: what is no longer written does not happen either."""
    return all(
        isinstance(one, _HARMLESS) or _is_conversion(one)
        for part in parts
        for one in ast.walk(part)
    )


def _is_conversion(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("str", "int")
    )


def device_texts(file: File, node: ast.expr) -> list[tuple[File, ast.expr]]:
    """All texts that can reach a device scope, with their files; none when not all are known."""
    found: list[tuple[File, ast.expr]] = []
    for source, origin in _origins(file, node):
        if isinstance(origin, ast.IfExp):
            found += [(file, origin.body), (file, origin.orelse)]
        else:
            found.append((file.project.file_of(source), origin))
    return found if all(is_gpu(one) or _text(one) is not None for _, one in found) else []


def _origins(file: File, node: ast.expr) -> Sequence[tuple[Source, ast.expr]]:
    if is_gpu(node) or isinstance(node, ast.IfExp | ast.Constant):
        return [(file.source, node)]
    return file.project.values.origins(file.source, node)


def cpu_text(file: File, node: ast.expr) -> str:
    """The CPU, in the quotes and the spelling of the text that it replaces."""
    quote = next((one for one in file.text(node) if one in "\"'"), '"')
    text = _text(node) or ""
    name = "CPU" if text == "GPU" else "cpu" if text == "gpu" else "/cpu:0"
    return f"{quote}{name}{quote}"


def is_compared(file: File) -> bool:
    """Whether a file compares something with a text for a GPU."""
    return any(
        _is_written(side) and ":" in (_text(side) or "")
        for node in file.nodes(ast.Compare)
        for side in (node.left, *node.comparators)
    )


def names_gpus(file: File) -> bool:
    """Whether a file, or one beside it, has a text with the number of a GPU."""
    return file.source.path.parent in file.project.once(_folders_with_gpus)


def _folders_with_gpus(project: ProjectFiles) -> frozenset[PurePosixPath]:
    return frozenset(
        file.source.path.parent for file in project.files if b"gpu:" in file.source.data.lower()
    )
