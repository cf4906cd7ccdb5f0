"""What star imports can bring under a name, and what they may hide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainferry.migrate.library import ADAPTER, canonical_name, star_names
from trainferry.migrate.naming.file_scopes import FileScopes
from trainferry.migrate.naming.imported import Imported
from trainferry.migrate.naming.modules import Own, Place
from trainferry.migrate.naming.scopes import Binding, ImportedModule, Scope, Star
from trainferry.migrate.naming.targets import Mark, Target


class Exporter(NamedTuple):
    """A module of the project that may export a name."""

    place: Place
    file: FileScopes


def find_exporters(
    star: Star, scope: Scope, name: str, imported: Imported, seen: set[Place]
) -> Iterator[Exporter | Target]:
    """Give the modules that a star import reads, through further ones as well.

    Of a library it is at once known what it brings. Modules that were `seen` are passed over.
    """
    todo = [(star, scope)]
    while todo:
        star, scope = todo.pop()
        module = imported.module(star.parts, star.level, scope)
        if not isinstance(module, Own):
            yield _from_library(module, name)
            continue
        for place in module.places:
            file = imported.file(place)
            if file is not None and place not in seen and _may_export(file, name):
                todo += [(further, file.module) for further in file.module.stars]
                yield Exporter(place, file)
            seen.add(place)


def may_be_hidden(target: Target, bound: tuple[Binding | None, ...], star_line: int) -> bool:
    """Whether a star import that is not known may have put another thing in the place.

    Nobody means `tf` by `from keras.layers import *`, or a name of the adapter; but `layers`,
    imported before, may be hidden by `from keras import *`.
    """
    if isinstance(target, str) and canonical_name(target) == "tf":
        return False
    if isinstance(target, str) and target.partition(".")[0] in ADAPTER:
        return False
    return not bound or not all(
        binding and (isinstance(binding, ImportedModule) or binding.line > star_line)
        for binding in bound
    )


def _from_library(module: str | None, name: str) -> Target:
    known = None if module is None else star_names(module)
    return Mark.MAYBE if known is None else known.get(name, Mark.ABSENT)


def _may_export(file: FileScopes, name: str) -> bool:
    if not file.exports_are_known:
        return True
    return name[0] != "_" if file.exported is None else name in file.exported
