"""The arguments of a script, with paths that lead where they led before the project was copied."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

Resolve = Callable[[Path], Path]

_WRITTEN = "written"
_PATTERN = frozenset("*?[]{}%@$:,\n")  # of names that stand for several files, or are none


def move_arguments(
    arguments: Sequence[str], projects: Sequence[Path], root: Path, resolve: Resolve
) -> tuple[list[str], list[str]]:
    """Arguments for a run in `root`, a copy of the first of `projects`; and what was changed.

    Paths into a project become paths into the copy. Others that exist are given to `resolve`,
    which may know a better place: `../data` as seen from the project, and absolute ones. Those that
    do not exist yet will be written: they go beside the copy, or the next run would find there
    what this one left, and a later training would go on from it.
    """
    moved, notes = [], []
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if not (equals and option.startswith("-")):
            option, equals, value = "", "", argument
        place = _place(value, projects, root, resolve)
        if place != value:
            notes.append(f"{value} is {place} in this run")
        elif _is_only_here(value, projects[0]):
            notes.append(
                f"{value} is here, but not in the project, where the script looks for it: "
                "give an absolute path"
            )
        moved.append(f"{option}{equals}{place}")
    return moved, notes


def _is_only_here(value: str, project: Path) -> bool:
    """A path that exists where the user stands; a plain name may be anything."""
    if "/" not in value or "\0" in value or Path(value).is_absolute():
        return False
    return os.path.lexists(value) and not os.path.lexists(project / value)


def _place(value: str, projects: Sequence[Path], root: Path, resolve: Resolve) -> str:
    if not value or "\0" in value or len(value) > 4096:
        return value
    path = Path(os.path.normpath(projects[0] / value))
    for project in projects:
        if path.is_relative_to(project):
            # A name such as `run` stays a name: it means the same in the copy.
            return str(root / path.relative_to(project)) if Path(value).is_absolute() else value
    if not (Path(value).is_absolute() or value.startswith("..")):
        return value
    if not os.path.lexists(path):
        is_moved = Path(value).is_absolute() and _is_to_write(path)
        return str(_make_room(path, root.parent / _WRITTEN)) if is_moved else value
    found = resolve(path)
    return str(found) if found != path or not Path(value).is_absolute() else value


def _is_to_write(path: Path) -> bool:
    """Whether this is a new file or folder rather than the beginning of names that exist."""
    if _PATTERN & set(str(path)):
        return False
    parent = _nearest(path)
    if parent == Path(parent.anchor) or not os.access(parent, os.R_OK | os.W_OK | os.X_OK):
        return False
    first = path.relative_to(parent).parts[0]
    return not any(each.name.startswith(first) for each in parent.iterdir())


def _make_room(path: Path, folder: Path) -> Path:
    """A place in `folder` below which as much exists as of the path."""
    (folder / _nearest(path).relative_to(path.anchor)).mkdir(parents=True, exist_ok=True)
    return folder / path.relative_to(path.anchor)


def _nearest(path: Path) -> Path:
    """The folder above it that exists."""
    return next(parent for parent in path.parents if parent.is_dir())
