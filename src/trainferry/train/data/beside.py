"""What was found in a record file, kept beside it to save time; where it is lost, found again."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def read_beside(path: Path) -> tuple[dict[str, Any], bytes] | None:
    """Return header and body of such a file, or None where there is none that can be read.

    Whoever wrote them must tell from the header whether they are still right.
    """
    try:
        line, _, body = path.read_bytes().partition(b"\n")
        header = json.loads(line)
    except (OSError, ValueError):
        return None
    return (header, body) if isinstance(header, dict) else None


def write_beside(path: Path, header: Mapping[str, Any], body: bytes) -> None:
    """Write them whole or not at all; nothing is said where that is not possible."""
    # Not forced to disk: what a crash damages is recognised by its checksum and made again.
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(json.dumps(header, sort_keys=True).encode() + b"\n" + body)
        part.replace(path)
    except OSError:
        # A read-only or full disk: the records can be read without this file.
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
