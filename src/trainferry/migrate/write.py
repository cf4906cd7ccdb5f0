"""Writes a migration: as a new tree, or in place with a way back; whole or not at all."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trainferry.errors import UsageError, WriteError
from trainferry.migrate.migration import MigratedFile, Migration
from trainferry.migrate.reading.walk import folder_not_taken

UNDO_NAME = "trainferry-undo.patch"
_TO_QUOTE = re.compile(rb'[\x00-\x1f\x7f"\\]')


@dataclass(frozen=True)
class WrittenTree:
    """What a new tree holds."""

    folder: Path
    files: int
    changed: int
    left_out: tuple[tuple[PurePosixPath, str], ...]


def write_tree(
    migration: Migration, to: Path, extra: Sequence[tuple[PurePosixPath, bytes]] = ()
) -> WrittenTree:
    """Copy the project to the new folder `to`, with the migrated files in their places.

    `extra` are files of ours beside the project's, such as the launch kit. Everything of the
    project is copied but version control, compiled files and virtual environments; links are
    copied as links. The folder appears when all of it is there.
    """
    root = migration.root.resolve()
    target = check_target(to, None if migration.is_one_file else root)
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        beside.mkdir(parents=True)
        left_out: list[tuple[PurePosixPath, str]] = []
        only = migration.files if migration.is_one_file else None
        count = _copy(root, beside, only, left_out)
        for file in migration.changed:
            _overwrite(beside / file.path, file.after)
        for path, data in extra:
            _add(beside / path, data)
        if target.exists():
            target.rmdir()
        beside.rename(target)
    except OSError as error:
        raise _unreadable(error, root, beside) or _explained(error, target) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return WrittenTree(target, count, len(migration.changed), tuple(left_out))


def check_target(to: Path, project: Path | None) -> Path:
    """The absolute path of a new tree; raises UsageError where it cannot be made.

    `project` is the folder that will be copied there, None for a single file.
    """
    target = Path(os.path.abspath(to))  # noqa: PTH100 - `to` may be a link to nothing yet
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is already there", hint="give a folder that does not exist yet")
    if project is not None and target.is_relative_to(project.resolve()):
        raise UsageError(
            f"{target} lies inside the project", hint="give a folder beside it, not in it"
        )
    return target


def write_in_place(migration: Migration) -> Path | None:
    """Change the project's own files; return the patch that restores them, None if none changed.

    `git apply trainferry-undo.patch` in the project brings every byte back. In a Git work tree the
    patch names files from its top, as Git's own do: others are passed over in a folder of it.
    """
    if not migration.changed:
        return None
    root = migration.root.resolve()
    places = [_own_place(root, file) for file in migration.changed]
    undo = _free_name(root / UNDO_NAME)
    done: list[tuple[Path, bytes]] = []
    beside: list[tuple[Path, Path, MigratedFile]] = []
    try:
        for place, file in zip(places, migration.changed, strict=True):
            beside.append((_write_beside(place, file.after), place, file))
        patch = _write_beside(undo, undo_patch(migration.changed, _below_work_tree(root)))
        patch.rename(undo)
        for part, place, file in beside:
            part.replace(place)
            done.append((place, file.before))
    except OSError as error:
        _put_back(done, undo)
        raise _explained(error, root) from None
    finally:
        for part, _, _ in beside:
            part.unlink(missing_ok=True)
    return undo


def _put_back(done: Sequence[tuple[Path, bytes]], undo: Path) -> None:
    try:
        for place, data in done:
            _overwrite(place, data)
    except OSError as error:
        raise WriteError(
            f"writing failed, and putting files back too: {error.strerror}",
            hint=f"`git apply {undo.name}` in the project restores those that were changed",
        ) from None
    undo.unlink(missing_ok=True)


def undo_patch(files: Sequence[MigratedFile], folder: PurePosixPath) -> bytes:
    """A patch that leads from the migrated files back to those before, byte for byte.

    `folder` is where they lie, seen from where the patch will be applied.
    """
    return b"".join(_patch(file, folder / file.path) for file in files)


def _patch(file: MigratedFile, path: PurePosixPath) -> bytes:
    name = os.fsencode(str(path))
    before, after = _quoted(b"a/" + name), _quoted(b"b/" + name)
    end = b"\t" if b" " in name else b""  # or `patch` takes the first word for the name
    lines = difflib.diff_bytes(
        difflib.unified_diff, _lines(file.after), _lines(file.before), before + end, after + end
    )
    ended = (
        line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
        for line in lines
    )
    return b"diff --git " + before + b" " + after + b"\n" + b"".join(ended)


def _quoted(name: bytes) -> bytes:
    """A file's name as Git writes it: in quotes where it holds a line end or the like."""
    if not _TO_QUOTE.search(name):
        return name
    return b'"' + _TO_QUOTE.sub(lambda found: b"\\%03o" % ord(found[0]), name) + b'"'


def _below_work_tree(root: Path) -> PurePosixPath:
    """Where `root` lies in the Git work tree around it; empty where there is none."""
    for folder in (root, *root.parents):
        place = folder / ".git"
        if place.is_file() or (place / "HEAD").is_file():
            return PurePosixPath(root.relative_to(folder))
    return PurePosixPath()


def _lines(data: bytes) -> list[bytes]:
    """Lines as `patch` counts them: only a line feed ends one."""
    pieces = data.split(b"\n")
    last = pieces.pop()
    return [piece + b"\n" for piece in pieces] + ([last] if last else [])


def _copy(
    root: Path,
    to: Path,
    only: Sequence[MigratedFile] | None,
    left_out: list[tuple[PurePosixPath, str]],
) -> int:
    count = 0
    for path in _paths(root, PurePosixPath(), left_out) if only is None else (f.path for f in only):
        source, copy = root / path, to / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            copy.symlink_to(_link_target(root, source))
        elif source.is_dir():
            copy.mkdir(exist_ok=True)
            shutil.copystat(source, copy)
            continue
        elif stat.S_ISREG(source.stat().st_mode):
            shutil.copy2(source, copy)
        else:
            left_out.append((path, "is not a regular file"))
            continue
        count += 1
    return count


def _paths(
    root: Path, folder: PurePosixPath, left_out: list[tuple[PurePosixPath, str]]
) -> Iterator[PurePosixPath]:
    for entry in sorted(os.scandir(root / folder), key=lambda one: one.name):
        path = folder / entry.name
        if entry.is_dir(follow_symlinks=False):
            if reason := folder_not_taken(root, path):
                left_out.append((path, reason))
                continue
            yield path
            yield from _paths(root, path, left_out)
        else:
            yield path


def _link_target(root: Path, link: Path) -> Path:
    """A link within the project stays as it is; one that leads out keeps its goal."""
    target = link.readlink()
    if target.is_absolute():
        return target
    goal = Path(os.path.normpath(link.parent / target))
    return target if goal.is_relative_to(root) else goal


def _own_place(root: Path, file: MigratedFile) -> Path:
    """The file itself, behind a link; it must be as it was read, and in the project."""
    place = (root / file.path).resolve()
    if not place.is_relative_to(root):
        raise WriteError(f"{file.path} leads out of the project", hint="nothing was changed")
    if place.read_bytes() != file.before:
        raise WriteError(
            f"{file.path} was changed while it was migrated", hint="run the command again"
        )
    return place


def _write_beside(place: Path, data: bytes) -> Path:
    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            shutil.copymode(place, part)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    return part


def _overwrite(place: Path, data: bytes) -> None:
    """Other bytes for a file that keeps its mode."""
    part = _write_beside(place.resolve(), data)
    part.replace(place.resolve())


def _add(place: Path, data: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as file:
        file.write(data)
    if data.startswith(b"#!"):
        place.chmod(0o755)


def _free_name(path: Path) -> Path:
    number = 1
    while (free := path if number == 1 else path.with_stem(f"{path.stem}-{number}")).exists():
        number += 1
    return free


def _unreadable(error: OSError, root: Path, copy: Path) -> WriteError | None:
    """What to say if it is a file of the project that stops its copy."""
    if not isinstance(error, PermissionError | FileNotFoundError) or error.filename is None:
        return None
    what = Path(str(error.filename))
    if not what.is_relative_to(root) or what.is_relative_to(copy):
        return None
    return WriteError(
        f"cannot read {what}: {error.strerror}; nothing was written",
        hint="make it readable, or move it out of the project: a copy has to be whole",
    )


def _explained(error: OSError, place: Path) -> WriteError:
    what = error.filename or place
    return WriteError(
        f"cannot write {what}: {error.strerror or error}; nothing was changed",
        hint="check the space on the disk and that you may write there",
    )
