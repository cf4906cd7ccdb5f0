"""The classes of ImageNet: wnids and their names, from the files that come with the pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainferry.errors import DataError
from trainferry.train.data.photos.classes import PhotoClass

WNID = re.compile(r"n\d+")


@dataclass(frozen=True)
class ClassFile:
    """The names by wnid, in the order of the file, and the numbers of the devkit if it has them."""

    names: dict[str, str]
    numbers: dict[int, str]


def read_class_file(path: Path) -> ClassFile:
    """Read lines of a wnid (or folder) and, behind a space or tab, its name.

    That is LOC_synset_mapping.txt, synset_words.txt or imagenet_metadata.txt; a list of wnids
    alone; or the devkit's map_clsloc.txt with a number before the name.
    """
    pairs = [_split_line(line) for line in read_lines(path)]
    split = [re.fullmatch(r"(\d+)\s+(\S+)", name) for _, name in pairs]
    numbers = {}
    if all(split):
        found = [match for match in split if match is not None]
        numbers = {int(match[1]): wnid for (wnid, _), match in zip(pairs, found, strict=True)}
        pairs = [
            (wnid, match[2].replace("_", " "))
            for (wnid, _), match in zip(pairs, found, strict=True)
        ]
    names = {wnid: name or wnid for wnid, name in pairs}
    if len(names) != len(pairs):
        raise DataError(
            f"`{path}` names {len(pairs) - len(names)} classes twice",
            hint="keep one line for each class",
        )
    return ClassFile(names, numbers)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file that are not empty. Raises DataError if there is none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"cannot read `{path}`: {error}", hint="check the path; the file must be UTF-8 text"
        ) from error
    lines = [line.strip("\r") for line in text.split("\n") if line.strip()]
    if not lines:
        raise DataError(f"`{path}` is empty", hint="check that it is the right file")
    return lines


def number_classes(
    found: Iterable[str], names: Mapping[str, str], listed: ClassFile | None
) -> tuple[PhotoClass, ...]:
    """Give the labels 1, 2, ... to the sorted wnids: of the class file, else of those found."""
    wnids = set(found)
    if listed is not None:
        unknown = sorted(wnids - listed.names.keys())
        if unknown:
            raise DataError(
                f"{len(unknown)} wnids are not in the file of classes: {', '.join(unknown[:5])}",
                hint="pass the list of all classes to --classes",
            )
        wnids = set(listed.names)
        names = {**names, **{key: name for key, name in listed.names.items() if name != key}}
    return tuple(PhotoClass(names.get(wnid, wnid), wnid) for wnid in sorted(wnids))


def place_classes(indices: Mapping[str, int], names: Mapping[str, str]) -> tuple[PhotoClass, ...]:
    """Give the labels that a list says, index 0 first; those it leaves out get no wnid."""
    by_index = {index: wnid for wnid, index in indices.items()}
    classes = []
    for index in range(max(by_index) + 1):
        wnid = by_index.get(index, "")
        classes.append(PhotoClass(names.get(wnid, wnid) or f"class {index + 1}", wnid))
    return tuple(classes)


def _split_line(line: str) -> tuple[str, str]:
    key, _, name = line.partition("\t" if "\t" in line else " ")
    return key.strip(), name.strip()
