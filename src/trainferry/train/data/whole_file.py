"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from trainferry.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Buffer

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class WholeFile:
    """Writes beside `path` under another name and renames when the block ends well.

    When it does not end well, or the disk is full, nothing is left behind and an
    older file at `path` stays as it was.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._beside = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._file: BinaryIO | None = None

    def __enter__(self) -> WholeFile:
        with explain_write_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._beside.open("wb", buffering=1 << 20)
        return self

    def write(self, data: Buffer) -> None:
        assert self._file is not None, "write inside the `with` block"
        with explain_write_errors(self.path):
            self._file.write(data)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._file is not None
        file, self._file = self._file, None
        try:
            if error is None:
                self._finish(file)
        finally:
            # Closing flushes; on a full disk that fails again, after the first error was told.
            with contextlib.suppress(OSError):
                file.close()
            self._beside.unlink(missing_ok=True)

    def _finish(self, file: BinaryIO) -> None:
        with explain_write_errors(self.path):
            file.flush()
            os.fsync(file.fileno())
            file.close()
            self._beside.replace(self.path)
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def write_whole(path: Path, data: Buffer) -> None:
    with WholeFile(path) as file:
        file.write(data)


@contextlib.contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Turn an OSError into a DataError that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise DataError(
                f"no space left while writing `{path}`; nothing was left behind",
                hint="free some space or write to another disk, then run the command again",
            ) from error
        raise DataError(
            f"cannot write `{path}`: {error.strerror or error}",
            hint="check that the folder exists and that you may write to it",
        ) from error
