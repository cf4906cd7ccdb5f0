"""Where a file speaks of GPUs: options, environment, lists of visible devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from trainferry.migrate.file import File
from trainferry.migrate.find import Call

CONFIGS = ("tf.ConfigProto", "tensorflow.core.protobuf.config_pb2.ConfigProto")
GPU_OPTIONS = ("tf.GPUOptions", "tensorflow.core.protobuf.config_pb2.GPUOptions")


@dataclass(frozen=True)
class Variable:
    """A place where a variable of the environment is set; `statement` where nothing else is."""

    name: str
    node: ast.expr
    statement: ast.stmt | None


def environment(file: File) -> Iterator[Variable]:
    """`os.environ["X"] = …`, `os.environ.setdefault("X", …)` and `os.putenv("X", …)`."""
    for store in file.stores:
        targets = store.targets if isinstance(store, ast.Assign) else [store.target]
        for target in targets:
            if isinstance(target, ast.Subscript) and _is_environ(file, target.value):
                alone = isinstance(store, ast.Assign) and len(targets) == 1
                if name := _text(target.slice):
                    yield Variable(name, target, store if alone else None)
    for call in file.calls_of("os.environ.setdefault", "os.putenv"):
        statement = file.parent(call.node)
        if call.node.args and (name := _text(call.node.args[0])):
            alone_statement = statement if isinstance(statement, ast.Expr) else None
            yield Variable(name, call.node, alone_statement)


def reads_environment(file: File, name: str) -> bool:
    """Whether the file reads `os.environ[name]`, which fails when nobody sets it."""
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and _text(node.slice) == name
        and _is_environ(file, node.value)
        for node in ast.walk(file.source.tree)
    )


def option_stores(file: File, option: str) -> Iterator[tuple[ast.Assign, str]]:
    """Assignments to `….option.x`, or to what is known as `….option`, with the name x."""
    for store in file.stores:
        if not isinstance(store, ast.Assign) or len(store.targets) != 1:
            continue
        target = store.targets[0]
        if isinstance(target, ast.Attribute):
            owner = target.value
            if isinstance(owner, ast.Attribute) and owner.attr == option:
                yield store, target.attr


def visible_device_lists(file: File) -> Iterator[tuple[ast.expr | ast.stmt, ast.expr]]:
    """Places that choose GPUs by number, with the value."""
    for store, name in option_stores(file, "gpu_options"):
        if name == "visible_device_list":
            yield store, store.value
    for call, keyword in visible_device_keywords(file):
        yield call.node, keyword.value


def visible_device_keywords(file: File) -> Iterator[tuple[Call, ast.keyword]]:
    for call in file.calls_of(*GPU_OPTIONS):
        if keyword := call.keyword("visible_device_list"):
            yield call, keyword


def _is_environ(file: File, node: ast.expr) -> bool:
    return file.full_name(node) == "os.environ"


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None
