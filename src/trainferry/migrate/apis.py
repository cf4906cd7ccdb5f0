"""The TensorFlow names that a project calls, each with what the NPU makes of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from trainferry.migrate.file import File
from trainferry.migrate.library import is_tensorflow
from trainferry.migrate.support import Support, verdict

_JUDGED = ("horovod.", "keras.")


@dataclass(frozen=True)
class ApiUse:
    """One name with all places that call it."""

    name: str
    support: Support
    places: tuple[tuple[PurePosixPath, int], ...]


def find_apis(files: Iterable[File]) -> tuple[ApiUse, ...]:
    """All called names of TensorFlow, Keras and Horovod, by name."""
    places: dict[str, list[tuple[PurePosixPath, int]]] = {}
    for file in files:
        for call in file.calls:
            if is_tensorflow(call.name) or call.name.startswith(_JUDGED):
                places.setdefault(call.name, []).append((file.source.path, call.line))
    return tuple(ApiUse(name, verdict(name), tuple(places[name])) for name in sorted(places))
