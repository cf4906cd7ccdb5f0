"""The project's own modules: which files an import statement can mean.

A project does not say which folders are on the path, and one repository often holds several
projects. So an import may mean several files; whoever asks must find that they agree.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import NamedTuple, TypeAlias

from trainferry.migrate.library import LIBRARIES

# Folder and file names from the project's root; `pkg/net.py` and `pkg/net/__init__.py` are
# both ("pkg", "net").
Place: TypeAlias = tuple[str, ...]


class Own(NamedTuple):
    """A module of the project, or several that the same import can mean."""

    places: tuple[Place, ...]


class OwnModules:
    """The modules of a project, to be looked up by import statements.

    `folder` is the name of the project's own folder, by which a project that is itself a package
    imports its parts.
    """

    def __init__(self, paths: Iterable[PurePosixPath], folder: str) -> None:
        self._files: dict[Place, PurePosixPath] = {}
        self._folders: set[Place] = {()}
        for path in paths:
            if path.suffix == ".py":
                self._add(path)
        self._homes: dict[str, list[Place]] = {}  # where the first part of an import is found
        for place in sorted(self._folders.union(self._files) - {()}):
            self._homes.setdefault(place[-1], []).append(place[:-1])
        self._package = folder if () in self._files else ""
        self._found: dict[tuple[Place, Place], Own | str | None] = {}

    def has(self, place: Place) -> bool:
        return place in self._files or place in self._folders

    def file_at(self, place: Place) -> PurePosixPath | None:
        return self._files.get(place)

    def find(self, parts: Place, level: int, path: PurePosixPath) -> Own | str | None:
        """What `from ..parts import` means in the file `path`; for `import parts`, level is 0.

        A string is the path of a library; None is a part of the project that is not here
        (generated, or not readable).
        """
        if level:
            return self._find_relative(parts, level, path)
        key = (parts, path.parent.parts)
        if key not in self._found:
            self._found[key] = self._find_absolute(parts, path)
        found = self._found[key]
        if isinstance(found, Own) and found.places == (place_of(path),):
            return ".".join(parts)  # no file imports itself: another module has the same name
        return found

    def _find_relative(self, parts: Place, level: int, path: PurePosixPath) -> Own | None:
        folder = path.parent.parts
        if level - 1 > len(folder):
            return None
        place = folder[: len(folder) - (level - 1)] + parts
        return Own((place,)) if self.has(place) else None

    def _find_absolute(self, parts: Place, path: PurePosixPath) -> Own | str | None:
        homes = self._possible_homes(parts[0], path)
        if not homes and parts[0] == self._package:
            homes, parts = [()], parts[1:]
        if not homes:
            return ".".join(parts)
        places = tuple(home + parts for home in homes if self.has(home + parts))
        return Own(places) if places else None

    def _possible_homes(self, first: str, path: PurePosixPath) -> list[Place]:
        homes = self._homes.get(first, [])
        folder = path.parent.parts
        if first in LIBRARIES:
            # Only a file or package proper hides an installed library, and only where Python
            # looks first: beside a script, or at the root.
            near = [()] if folder in self._files else [folder, ()]
            return [home for home in homes if home in near and (*home, first) in self._files]
        above = [home for home in homes if home == folder[: len(home)]]
        if above or first in sys.stdlib_module_names:
            return above
        return homes

    def _add(self, path: PurePosixPath) -> None:
        place = place_of(path)
        if place not in self._files or path.stem == "__init__":  # a package hides a module
            self._files[place] = path
        for end in range(len(path.parent.parts) + 1):
            self._folders.add(path.parent.parts[:end])


def place_of(path: PurePosixPath) -> Place:
    return path.parent.parts if path.stem == "__init__" else path.with_suffix("").parts
