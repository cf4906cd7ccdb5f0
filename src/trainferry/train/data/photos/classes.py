"""The classes of photographs: label n of the records is class n - 1 of `classes.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trainferry.errors import DataError
from trainferry.train.data.whole_file import write_whole

CLASSES = "classes.json"


@dataclass(frozen=True)
class PhotoClass:
    """A class: how people call it, and the folder (or wnid) its pictures came from."""

    name: str
    folder: str


def write_classes(folder: Path, classes: Sequence[PhotoClass]) -> None:
    """Keep the classes beside the records; other ones that are there already are an error."""
    known = find_classes(folder)
    if known == tuple(classes):
        return
    if known is not None:
        raise DataError(
            f"`{folder / CLASSES}` lists other classes: {_differences(known, classes)}",
            hint="pass another folder to --to, or delete the old records and their classes.json",
        )
    lines = ",\n".join(json.dumps(asdict(one), ensure_ascii=False) for one in classes)
    text = f'{{"classes": [\n{lines}\n]}}\n'
    write_whole(folder / CLASSES, text.encode("utf-8", "surrogateescape"))


def find_classes(folder: Path) -> tuple[PhotoClass, ...] | None:
    """Return the classes that are kept in a folder of records, or None."""
    path = folder / CLASSES
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(f"cannot read `{path}`: {error}", hint="make the data again") from error
    try:
        classes = tuple(_parse(item) for item in json.loads(text)["classes"])
    except (ValueError, TypeError, LookupError) as error:
        raise DataError(
            f"`{path}` is not a list of classes: {error}",
            hint='write {"classes": [{"name": "...", "folder": "..."}, ...]}, or delete it',
        ) from error
    if not classes:
        raise DataError(f"`{path}` lists no class", hint="make the data again")
    return classes


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """Sort by this: 2 comes before 10."""
    parts = re.findall(r"\d+|\D+", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _parse(item: dict[str, Any]) -> PhotoClass:
    name, folder = item["name"], item.get("folder", "")
    if not isinstance(name, str) or not isinstance(folder, str):
        raise TypeError(f"{item!r} is not a class")
    return PhotoClass(name, folder)


def _differences(known: Sequence[PhotoClass], classes: Sequence[PhotoClass]) -> str:
    if len(known) != len(classes):
        return f"{len(known)}, not {len(classes)}"
    pairs = zip(known, classes, strict=True)
    number, (was, now) = next(
        (number, pair) for number, pair in enumerate(pairs, 1) if pair[0] != pair[1]
    )
    return f"label {number} is {was.name!r} ({was.folder}), not {now.name!r} ({now.folder})"
