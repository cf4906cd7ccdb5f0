"""Small projects for tests: files given as text."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from pathlib import PurePosixPath

from trainferry.migrate.find import Call, find_calls
from trainferry.migrate.names import Names, resolve_project
from trainferry.migrate.read import Source, read_source


def source_of(text: str | bytes, path: str = "net.py") -> Source:
    data = text if isinstance(text, bytes) else textwrap.dedent(text).encode()
    place = PurePosixPath(path)
    module = ".".join(place.with_suffix("").parts).removesuffix(".__init__")
    source = read_source(place, data, module)
    assert isinstance(source, Source), source
    return source


def project_of(files: Mapping[str, str], folder: str = "") -> tuple[dict[str, Source], Names]:
    sources = {path: source_of(text, path) for path, text in files.items()}
    return sources, resolve_project(list(sources.values()), folder)


def asked(
    text: str, others: Mapping[str, str] | None = None, path: str = "net.py", folder: str = ""
) -> str | None:
    """The full name of `x` in the file's only `ask(x)`."""
    sources, names = project_of({path: text, **(others or {})}, folder)
    return names.full_name(sources[path], question(sources[path]))


def question(source: Source) -> ast.expr:
    """The `x` of the file's only `ask(x)`."""
    (found,) = (
        node.args[0]
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ask"
    )
    return found


def calls_of(text: str | bytes, others: Mapping[str, str] | None = None) -> list[Call]:
    source = source_of(text)
    neighbours = [source_of(other, path) for path, other in (others or {}).items()]
    return list(find_calls(source, resolve_project([source, *neighbours])))


def called_names(text: str, others: Mapping[str, str] | None = None) -> list[str]:
    return [call.name for call in calls_of(text, others)]
