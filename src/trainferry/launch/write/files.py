"""Files of a scheduler, and text in them that came from a user."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainferry.errors import WriteError


@dataclass(frozen=True)
class LaunchFile:
    """One file to write; `submit` is the command that hands it to the scheduler."""

    name: str
    text: str
    submit: str
    executable: bool = False


def write_files(files: Sequence[LaunchFile], folder: Path) -> list[Path]:
    """Write `files` into `folder`. One that is there with another content stays, and is told."""
    paths = [folder / file.name for file in files]
    for file, path in zip(files, paths, strict=True):
        if path.exists() and (not path.is_file() or path.read_bytes() != file.text.encode()):
            raise WriteError(
                f"{path} is there already and says something else",
                hint="remove it, or write to another folder",
            )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, path in zip(files, paths, strict=True):
            _write(path, file)
    except OSError as error:
        raise WriteError(
            f"cannot write to {folder}: {error.strerror}", hint="choose a folder you may write to"
        ) from None
    return paths


def filled(template: str, values: Mapping[str, str]) -> str:
    """`template` with its `@NAME@` places filled, in one pass: values are not searched again."""
    return re.sub(r"@([A-Z_]+)@", lambda place: values[place[1]], template)


def on_one_line(text: str) -> str:
    """`text` for a comment: whatever could end the line, in any format, is written as an escape."""
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text
    )


def _write(path: Path, file: LaunchFile) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(file.text.encode())
        if file.executable:
            beside.chmod(0o755)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
