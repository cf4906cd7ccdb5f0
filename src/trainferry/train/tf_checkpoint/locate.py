"""Finds the checkpoint a path means: a prefix, one of its files, or a folder."""

from __future__ import annotations

import re
from pathlib import Path

from trainferry.errors import CheckpointError
from trainferry.train.tf_checkpoint.old_format import files_of
from trainferry.train.tf_checkpoint.table import is_table

_FILE_OF_A_CHECKPOINT = re.compile(r"\.(index|meta|data-\d{5}-of-\d{5})$")
_LATEST = re.compile(r'^\s*model_checkpoint_path\s*:\s*"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_STATE_BYTES = 1 << 20


def find_prefix(path: Path) -> Path:
    """Return the path that, with `.index` added, is the checkpoint's index file.

    Of a checkpoint in the old format it is the file itself. In a folder it is the latest
    checkpoint of its `checkpoint` file, or the variables of a SavedModel. What a `checkpoint`
    file says never leads out of its folder.
    """
    if path.is_dir():
        return _prefix_in_folder(path)
    prefix = path.with_name(_FILE_OF_A_CHECKPOINT.sub("", path.name) or path.name)
    if index_of(prefix).is_file():
        return prefix
    if path.is_file():
        return _old_format(path)
    beside = sorted(prefix.parent.glob("*.index")) if prefix.parent.is_dir() else []
    found = ", ".join(f"`{index.stem}`" for index in beside[-3:]) or "none"
    raise CheckpointError(
        f"no TensorFlow checkpoint at {path}: {index_of(prefix).name} is missing",
        hint=f"give the path without `.index`; checkpoints in {prefix.parent}: {found}",
    )


def is_tensorflow(path: Path) -> bool:
    """Whether a path looks like a checkpoint of TensorFlow; `find_prefix` may refuse it yet."""
    if path.is_dir():
        names = ("checkpoint", "variables", "variables.index")
        return any((path / name).exists() for name in names) or any(path.glob("*.index"))
    prefix = path.with_name(_FILE_OF_A_CHECKPOINT.sub("", path.name) or path.name)
    return index_of(prefix).is_file() or (path.is_file() and is_table(path))


def index_of(prefix: Path) -> Path:
    return prefix.with_name(prefix.name + ".index")


def _prefix_in_folder(folder: Path) -> Path:
    state = folder / "checkpoint"
    if state.is_file():
        return _latest(state)
    for saved in (folder / "variables" / "variables", folder / "variables"):
        if index_of(saved).is_file():
            return saved
    indices = sorted(folder.glob("*.index"))
    if len(indices) == 1:
        return indices[0].with_suffix("")
    found = ", ".join(f"`{index.stem}`" for index in indices) or "none"
    raise CheckpointError(
        f"the folder {folder} has no `checkpoint` file and is no SavedModel; "
        f"checkpoints found: {found}",
        hint="name one checkpoint, for example `model.ckpt-100`",
    )


def _latest(state: Path) -> Path:
    """The latest checkpoint; an absolute path of another machine is looked for in this folder."""
    with state.open("rb") as file:
        text = file.read(_STATE_BYTES).decode("utf-8", errors="replace")
    match = _LATEST.search(text)
    if match is None:
        raise CheckpointError(
            f"{state} names no `model_checkpoint_path`", hint="name one checkpoint file instead"
        )
    named = Path(_unescape(match[1]))
    folder = state.parent
    candidates = [folder / named] if not named.is_absolute() else [named, folder / named.name]
    for candidate in candidates:
        inside = candidate.parent.resolve().is_relative_to(folder.resolve())
        if not inside or not candidate.name:
            continue
        if index_of(candidate).is_file():
            return candidate
        first = files_of(candidate)[0]
        if first.is_file() and is_table(first):
            return candidate
        if candidate.is_file():
            raise _another_kind(candidate)
    raise CheckpointError(
        f"{state} names `{named}`, which is not in {folder}",
        hint="copy the checkpoint's files into the folder, or name another checkpoint in it",
    )


def _unescape(text: str) -> str:
    """Undo the escapes of a text message: three octal digits for a byte outside of ASCII."""
    parts = re.split(rb"\\([0-7]{3}|.)", text.encode())
    parts[1::2] = [bytes([int(one, 8) & 0xFF]) if len(one) == 3 else one for one in parts[1::2]]
    return b"".join(parts).decode("utf-8", "replace").replace("\0", "\ufffd")


def _old_format(path: Path) -> Path:
    """A checkpoint in TensorFlow's old format is a table, without an index beside it."""
    if is_table(path):
        return path
    raise _another_kind(path)


def _another_kind(path: Path) -> CheckpointError:
    if _FILE_OF_A_CHECKPOINT.search(path.name):
        return CheckpointError(
            f"{path} is one file of a checkpoint whose `.index` file is missing",
            hint="copy all files of the checkpoint: `.index` and every `.data-*-of-*`",
        )
    return CheckpointError(
        f"{path} is no TensorFlow checkpoint",
        hint="give `model.ckpt-100` (the files `.index` and `.data-*`), a folder with a "
        "`checkpoint` file, or a SavedModel folder; frozen `.pb` and `.h5` files are not read",
    )
