"""Boxes of objects: the XML files of ILSVRC, or the CSV that slim makes of them."""

from __future__ import annotations

import csv
import math
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from trainferry.errors import DataError
from trainferry.train.data.pack import path_inside
from trainferry.train.data.photos.example import Boxes

_MOST_BYTES = 1 << 20
_SIDES = ("ymin", "xmin", "ymax", "xmax")


@dataclass(frozen=True)
class XmlBoxes:
    """A folder with an XML file of boxes for some pictures, each read when it is needed."""

    folder: Path

    def read(self, path: str, wnid: str) -> Boxes:
        """Return the boxes of the picture at `path`; none for a picture without an XML file.

        Only objects of the picture's own class count, as in the originals.
        """
        stem = Path(path).stem
        for place in (f"{wnid}/{stem}", stem, f"train/{wnid}/{stem}", f"val/{stem}"):
            found = path_inside(self.folder, f"{place}.xml")
            if found is not None and found.is_file():
                return _parse_xml(found, wnid)
        return ()


def read_csv_boxes(path: Path) -> dict[str, Boxes]:
    """Return the boxes of every picture by its file name: lines of `file,xmin,ymin,xmax,ymax`."""
    boxes: dict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.reader(file), 1):
                if not row or (number == 1 and len(row) > 1 and not _is_number(row[1])):
                    continue
                box = _box(row[2:3] + row[1:2] + row[4:5] + row[3:4]) if len(row) == 5 else None
                if box is None:
                    raise DataError(
                        f"line {number} of `{path}` is no box: {','.join(row)[:80]}",
                        hint="lines are file,xmin,ymin,xmax,ymax with sides from 0 to 1",
                    )
                if box[0] < box[2] and box[1] < box[3]:
                    boxes[Path(row[0]).name].append(box)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"cannot read `{path}`: {error}", hint="pass the folder of XML files, or their CSV"
        ) from error
    return {name: tuple(found) for name, found in boxes.items()}


def _parse_xml(path: Path, wnid: str) -> Boxes:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError("it is too long for a list of boxes")
        root = ET.fromstring(path.read_bytes())
        width, height = (float(_text(root, f"size/{side}")) for side in ("width", "height"))
        boxes = []
        for thing in root.iter("object"):
            if thing.findtext("name", wnid).strip() != wnid:
                continue
            sides = [float(_text(thing, f"bndbox/{side}")) for side in _SIDES]
            boxes.append(_scaled(sides, height, width))
    except (OSError, ET.ParseError, ValueError, ZeroDivisionError) as error:
        raise DataError(
            f"`{path}` holds no boxes: {error}", hint="repair or remove the file, then run again"
        ) from error
    return tuple(box for box in boxes if box[0] < box[2] and box[1] < box[3])


def _text(element: ET.Element, path: str) -> str:
    text = element.findtext(path)
    if text is None:
        raise ValueError(f"there is no <{path}>")
    return text


def _scaled(sides: list[float], height: float, width: float) -> tuple[float, float, float, float]:
    top, bottom = sorted((sides[0] / height, sides[2] / height))
    left, right = sorted((sides[1] / width, sides[3] / width))
    return _cut(top), _cut(left), _cut(bottom), _cut(right)


def _box(texts: list[str]) -> tuple[float, float, float, float] | None:
    if not all(map(_is_number, texts)):
        return None
    return _scaled([float(text) for text in texts], 1.0, 1.0)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _cut(value: float) -> float:
    return min(max(value, 0.0), 1.0)
