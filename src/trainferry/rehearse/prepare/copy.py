"""Copies a project into the run folder, so that a script which writes beside itself harms nothing.

Large files are linked: data is read, and copying it would take longer than the rehearsal. Links
are looked at again after the run, and those that were written through are told.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from trainferry.errors import RehearsalError

MARK = "command.json"  # of a run folder
_LARGE_BYTES = 32 << 20
_MANY_FILES = 2000
_LEFT_OUT = {".git", ".hg", ".svn", "__pycache__", ".ipynb_checkpoints", ".mypy_cache", ".tox"}
# A script that saves its weights writes to these; through a link that would be the user's file.
_WRITTEN = (".h5", ".hdf5", ".ckpt", ".index", ".meta", ".log", ".pkl", ".npz", ".pb")


@dataclass(frozen=True)
class Link:
    """Something of the project that was linked; `stamp` changes when it is written to."""

    path: PurePosixPath
    source: Path
    stamp: tuple[int, int] | None


@dataclass
class Copy:
    """A project to run in: `root` holds what `source` holds."""

    source: Path
    root: Path
    files: int = 0
    bytes: int = 0
    links: list[Link] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def is_in_place(self) -> bool:
        return self.source == self.root

    def written_links(self) -> list[PurePosixPath]:
        """Linked files that are no longer as they were: the script wrote into the project."""
        return [link.path for link in self.links if link.stamp != stamp_of(link.source)]


def in_place(project: Path) -> Copy:
    """The project itself, for scripts that must run where they lie."""
    return Copy(project, project)


def copy_project(project: Path, root: Path) -> Copy:
    """Copy `project` to `root`, which must not exist."""
    copy = Copy(project, root)
    root.mkdir(parents=True)
    _copy_folder(copy, PurePosixPath())
    return copy


def stamp_of(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_size, facts.st_mtime_ns


def is_run_folder(path: Path) -> bool:
    """Whether an earlier rehearsal made this folder."""
    try:
        with (path / MARK).open("rb") as file:
            return b'"trainferry rehearse"' in file.read(200)
    except OSError:
        return False


def _copy_folder(copy: Copy, folder: PurePosixPath) -> None:
    for entry in _entries(copy, folder):
        path = folder / entry.name
        target = copy.root / path
        if entry.is_symlink():
            _copy_link(copy, path)
        elif entry.is_dir():
            if _is_left_out(Path(entry.path), copy.root):
                continue
            if _is_data(Path(entry.path)):
                _link(copy, path)
                continue
            target.mkdir()
            _copy_folder(copy, path)
        elif entry.is_file():
            _copy_file(copy, path, entry.stat().st_size)


def _entries(copy: Copy, folder: PurePosixPath) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(copy.source / folder) as found:
            yield from sorted(found, key=lambda entry: entry.name)
    except PermissionError as error:
        copy.left_out.append(f"{folder}: {error.strerror}")


def _copy_file(copy: Copy, path: PurePosixPath, size: int) -> None:
    if size > _LARGE_BYTES and not _is_written(path):
        _link(copy, path)
        return
    try:
        shutil.copy2(copy.source / path, copy.root / path)
    except PermissionError as error:
        copy.left_out.append(f"{path}: {error.strerror}")
        return
    except OSError as error:
        raise RehearsalError(
            f"cannot copy {path} into the run folder: {error.strerror}",
            hint="name a run folder with more room by `--to`, or run in place with `--in-project`",
        ) from None
    copy.files += 1
    copy.bytes += size


def _copy_link(copy: Copy, path: PurePosixPath) -> None:
    """A link within the project leads to the copy; one that leads out leads where it did."""
    source = copy.source / path
    target = Path(os.path.realpath(source))
    if target.is_relative_to(copy.source):
        inside = copy.root / target.relative_to(copy.source)
        (copy.root / path).symlink_to(os.path.relpath(inside, (copy.root / path).parent))
    else:
        _link(copy, path)


def _link(copy: Copy, path: PurePosixPath) -> None:
    source = Path(os.path.realpath(copy.source / path))
    (copy.root / path).symlink_to(source)
    copy.links.append(Link(path, source, stamp_of(source)))


def _is_left_out(folder: Path, root: Path) -> bool:
    return (
        folder.name in _LEFT_OUT
        or (folder / "pyvenv.cfg").is_file()
        or is_run_folder(folder)
        or root.is_relative_to(folder.resolve())
    )


def _is_data(folder: Path) -> bool:
    """Thousands of files and no program among them: pictures, most likely."""
    number = 0
    with os.scandir(folder) as found:
        for entry in found:
            number += 1
            if entry.name.endswith((".py", ".sh", ".ipynb")) or entry.is_dir():
                return False
    return number >= _MANY_FILES


def _is_written(path: PurePosixPath) -> bool:
    return path.name.endswith(_WRITTEN) or ".ckpt" in path.name or ".tfevents." in path.name
