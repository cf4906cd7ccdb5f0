"""Which files of a project are its sources; nothing outside the project is looked at."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

_SUFFIXES = (".py", ".ipynb")
_SKIPPED_FOLDERS = {
    ".git": "version control",
    ".hg": "version control",
    ".svn": "version control",
    "__pycache__": "compiled files",
    "node_modules": "packages of Node",
    "site-packages": "installed packages",
    ".ipynb_checkpoints": "copies of notebooks",
    ".tox": "test environments",
    ".nox": "test environments",
}
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta", "bin/activate", "Scripts/activate.bat")
_GIT_SECONDS = 120


@dataclass
class Found:
    """Sources in a fixed order, and what was not taken, with reasons."""

    files: list[PurePosixPath] = field(default_factory=list)
    unreadable: list[tuple[PurePosixPath, str]] = field(default_factory=list)
    skipped: list[tuple[PurePosixPath, str]] = field(default_factory=list)


def find_sources(root: Path) -> Found:
    """Find Python files, notebooks and scripts that name Python in their first line."""
    found = Found()
    links: list[PurePosixPath] = []
    for path, is_link in _walk(root, PurePosixPath(), found):
        (links if is_link else found.files).append(path)
    _take_links(root, links, found)
    _leave_ignored(root, found)
    for part in (found.files, found.unreadable, found.skipped):
        part.sort()
    return found


def _walk(root: Path, folder: PurePosixPath, found: Found) -> Iterator[tuple[PurePosixPath, bool]]:
    """Yield every file with the name of a source, and whether it is a link."""
    try:
        with os.scandir(root / folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        found.unreadable.append((folder, f"cannot be listed: {error.strerror}"))
        return
    for entry in entries:
        path = folder / entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _walk_folder(root, path, found)
        elif _is_link_to_folder(entry):
            found.skipped.append((path, "a link to a folder, not followed"))
        elif _is_source(entry):
            yield path, entry.is_symlink()


def _walk_folder(
    root: Path, folder: PurePosixPath, found: Found
) -> Iterator[tuple[PurePosixPath, bool]]:
    if folder.name.endswith(_SUFFIXES):
        found.unreadable.append((folder, "is a folder, not a file"))
    reason = folder_not_taken(root, folder)
    if reason is None:
        yield from _walk(root, folder, found)
    else:
        found.skipped.append((folder, reason))


def folder_not_taken(root: Path, folder: PurePosixPath) -> str | None:
    """Why a folder is no part of a project: version control, compiled files, environments."""
    reason = _SKIPPED_FOLDERS.get(folder.name)
    if reason is None and any(_exists(root / folder / mark) for mark in _ENVIRONMENT_MARKS):
        return "a virtual environment"
    return reason


def _is_link_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_symlink() and entry.is_dir()
    except OSError:  # a link to itself
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # in a folder that is closed to us
        return False


def _is_source(entry: os.DirEntry[str]) -> bool:
    if entry.name.endswith(_SUFFIXES):
        return True
    if "." in entry.name or not entry.is_file(follow_symlinks=False):
        return False
    try:
        with Path(entry.path).open("rb") as file:
            first = file.readline(200)
    except OSError:
        return False  # its name says nothing of Python
    return first.startswith(b"#!") and b"python" in first


def _take_links(root: Path, links: list[PurePosixPath], found: Found) -> None:
    """A file is read once, by its own name where it has one in the project."""
    inside = root.resolve()
    names = {(inside / path).resolve(): path for path in found.files}
    for path in links:
        try:
            target = (root / path).resolve(strict=True)
        except (OSError, RuntimeError):
            found.unreadable.append((path, "is a link to nothing"))
            continue
        if not target.is_relative_to(inside):
            found.skipped.append((path, "a link out of the project, not followed"))
        elif target in names:
            found.skipped.append((path, f"a link to {names[target]}, which is read"))
        else:
            names[target] = path
            found.files.append(path)


def _leave_ignored(root: Path, found: Found) -> None:
    """In a Git work tree, leave what .gitignore names."""
    top = root.resolve()
    if not any(_exists(folder / ".git") for folder in (top, *top.parents)):
        return
    listed = _git_files(root)
    if isinstance(listed, str):
        found.skipped.append((PurePosixPath("."), f".gitignore is not considered: {listed}"))
        return
    if not listed:
        return  # Git ignores all of it, and yet it was asked for
    kept = [path for path in found.files if _is_listed(path, listed)]
    ignored = set(found.files) - set(kept)
    found.files = kept
    found.skipped += [(path, "ignored by Git") for path in ignored]


def _git_files(root: Path) -> set[str] | str:
    """Tracked files and new ones that are not ignored; or why Git did not say."""
    # The project's own configuration must not start a program.
    command = ["git", "-c", "core.fsmonitor=false", "ls-files", "-z"]
    command += ["--cached", "--others", "--exclude-standard"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        result = subprocess.run(
            command,
            cwd=root,
            env=environment,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=True,
        )
    except FileNotFoundError:
        return "git is not installed"
    except subprocess.TimeoutExpired:
        return f"git did not answer within {_GIT_SECONDS} seconds"
    except subprocess.CalledProcessError as error:
        return os.fsdecode(error.stderr).strip().partition("\n")[0]
    return {os.fsdecode(name).rstrip("/") for name in result.stdout.split(b"\0") if name}


def _is_listed(path: PurePosixPath, listed: set[str]) -> bool:
    """Git lists a work tree inside this one, a submodule for example, by its folder alone."""
    return str(path) in listed or any(str(folder) in listed for folder in path.parents)
