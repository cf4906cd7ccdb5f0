"""The TensorFlow names that a project calls, each with what the NPU makes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from trainferry.migrate.file import File
from trainferry.migrate.library import is_tensorflow
from trainferry.migrate.support import Support, verdict

_JUDGED = ("horovod.", "keras.")


@dataclass(frozen=True)
class ApiUse:
    """One name with all places that call it."""

    name: str
    support: Support
    places: tuple[tuple[PurePosixPath, int], ...]


def find_apis(files: Iterable[File]) -> tuple[ApiUse, ...]:
    """All called names of TensorFlow, Keras and Horovod, by name."""
    places: dict[str, list[tuple[PurePosixPath, int]]] = {}
    for file in files:
        for name, line in _called(file):
            if is_tensorflow(name) or name.startswith(_JUDGED):
                places.setdefault(name, []).append((file.source.path, line))
    return tuple(ApiUse(name, verdict(name), tuple(places[name])) for name in sorted(places))


def _called(file: File) -> Iterator[tuple[str, int]]:
    for node in file.names.calls(file.source):
        name = file.full_name(node.func) or _flags_of(file, node.func)
        if name is not None:
            yield name, file.source.line_of(node)


def _flags_of(file: File, function: ast.expr) -> str | None:
    """TensorFlow's flags, where a method of one flag's value is called: `FLAGS.scopes.split()`."""
    while isinstance(function, ast.Attribute):
        function = function.value
        name = file.full_name(function)
        if name is not None:
            return name if name.endswith(".flags.FLAGS") else None
    return None
