"""What the imports of a project's files mean: its own modules, or a library."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from trainferry.migrate.naming.file_scopes import FileScopes
from trainferry.migrate.naming.modules import Own, OwnModules, Place
from trainferry.migrate.naming.scopes import ImportedModule, Scope


class Imported:
    """Looks up imports from the scope they stand in."""

    def __init__(self, files: Mapping[PurePosixPath, FileScopes], folder: str) -> None:
        self.own = OwnModules(files, folder)
        self._files = files
        self._path_of = {file.module: path for path, file in files.items()}

    def module(self, parts: Place, level: int, scope: Scope) -> Own | str | None:
        """What the module of `from ..parts import`, or of `import parts`, is."""
        return self.own.find(parts, level, self._path_of[module_of(scope)])

    def bound_by(self, binding: ImportedModule, scope: Scope) -> Own | str | None:
        """What `import a.b` binds `a` to, or `import a.b as c` binds `c`."""
        module = self.module(binding.parts, 0, scope)
        dropped = len(binding.parts) - binding.keeps
        if isinstance(module, Own) and dropped:
            return Own(tuple(dict.fromkeys(place[:-dropped] for place in module.places)))
        if isinstance(module, str):
            return ".".join(binding.parts[: binding.keeps])
        return module

    def file(self, place: Place) -> FileScopes | None:
        path = self.own.file_at(place)
        return None if path is None else self._files[path]


def module_of(scope: Scope) -> Scope:
    while scope.parent is not None:
        scope = scope.parent
    return scope
