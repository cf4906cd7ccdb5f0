"""Which files run eagerly: nothing of them reaches an NPU before they build graphs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.entries import is_main_guard
from trainferry.migrate.file import File, Function

EAGER_RULE = "eager_mode"  # the only one that speaks about such files

SWITCHES = (
    "tf.enable_eager_execution",
    "tf.enable_v2_behavior",
    "tf.contrib.eager.enable_eager_execution",
)
# TensorFlow 1.15 has them in `tf.keras` only, or not at all.
_TENSORFLOW_2 = re.compile(
    r"tf\.optimizers\.\w+$|tf\.summary\.create_file_writer$"
    r"|tf\.losses\.(Sparse|Binary|Categorical|Mean)\w*(Crossentropy|Error)$"
)
_SHOWS_PAIRS = frozenset(("enumerate", "zip"))


def is_eager(file: File) -> bool:
    """Whether a file always switches eager mode on, or is written for TensorFlow 2."""
    return file.once(_find_eager)


def _find_eager(file: File) -> bool:
    if any(name in SWITCHES and is_always(file, node) for node, name in file.uses):
        return True
    return eager_sign(file) is not None


def is_always(file: File, node: ast.AST) -> bool:
    """Whether code runs without a condition other than that the file is started."""
    return not any(
        isinstance(above, ast.If | ast.IfExp) and not is_main_guard(above.test)
        for above in file.parents(node)
    )


def eager_sign(file: File) -> ast.expr | None:
    """The first thing that TensorFlow 1.15 cannot do without eager mode, or at all."""
    for node, name in file.uses:
        if _TENSORFLOW_2.match(name) and not _is_tried(file, node):
            return node
    return next((one for one in _looped_over(file) if not _is_tried(file, one)), None)


def _looped_over(file: File) -> Iterator[ast.expr]:
    """Datasets in a `for` of Python, which wants eager mode or a `tf.function`."""
    if not any(name.startswith("tf.data.") for name in file.used):
        return
    for node in file.nodes(ast.For):
        for values in _iterated(node.iter):
            if file.class_of(values) == "tf.data.Dataset" and not _is_traced(file, node):
                yield values


def _iterated(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.args if node.func.id in _SHOWS_PAIRS else [node]
    return [node]


def _is_traced(file: File, node: ast.AST) -> bool:
    return any(
        "function" in file.text(decorator)
        for above in file.parents(node)
        if isinstance(above, Function)
        for decorator in above.decorator_list
    )


def _is_tried(file: File, node: ast.AST) -> bool:
    """Whether code is one way of several: in a `try`, or under a condition."""
    return not is_always(file, node) or any(isinstance(one, ast.Try) for one in file.parents(node))
