"""Files that are read as if they lay in memory."""

from __future__ import annotations

import mmap
from pathlib import Path

from trainferry.errors import RecordError


def map_file(path: Path) -> memoryview:
    """Return the bytes of a file, which are read when they are looked at."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if not size:
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise RecordError(
            f"cannot read `{path}`: {error.strerror or error}",
            hint="check the path and that you may read it",
        ) from error
