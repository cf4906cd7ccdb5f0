"""Words in record files: a picture and its text, in either of two layouts.

encoded   `image/encoded` JPEG or PNG, `image/text` UTF-8, optionally `image/path`
raw       the originals': `images` H x W x 3 values, `labels` class numbers, `imagepaths`, and
          `labels_length` where the zoo wrote them. Upstream wrote none, and blue before red.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from trainferry.errors import DataError, PictureError, RecordError
from trainferry.train.data.example import decode_text, first_bytes, integers, split_example
from trainferry.train.data.pictures import Filter, Picture, decode_picture, resize_into
from trainferry.train.data.record_index import Damage
from trainferry.train.data.tfrecord import RecordFile, RecordSet
from trainferry.train.data.words.alphabet import Alphabet, find_ord_map, read_alphabet

Layout: TypeAlias = Literal["encoded", "raw"]
Order: TypeAlias = Literal["rgb", "bgr"]
Case: TypeAlias = Literal["lower", "keep"]

RAW_HEIGHT = 32


@dataclass(frozen=True)
class WordSample:
    """One word: its picture, height x width x 3, its text, and where it comes from."""

    picture: Picture
    text: str
    name: str


@dataclass(frozen=True)
class FileLayout:
    """How the records of one file are to be read."""

    layout: Layout
    order: Order
    labels: Alphabet | None


class _Parsed(NamedTuple):
    record: Mapping[bytes, memoryview]
    layout: FileLayout
    text: str


@dataclass
class WordRecords:
    """The words of several record files, as a network wants them.

    `ord_map` names the dictionary of raw records; without it, it is looked for beside the
    files. `raw_order` overrides what the layout says about the order of colours.
    """

    paths: Sequence[Path]
    alphabet: Alphabet
    _: KW_ONLY
    case: Case
    height: int
    width: int
    filter: Filter
    order: Order
    ord_map: Path | None = None
    raw_order: Order | None = None
    records: RecordSet = field(init=False, repr=False, compare=False)
    layouts: tuple[FileLayout, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.paths = tuple(Path(path) for path in self.paths)
        self.records = RecordSet(self.paths)
        self.layouts = tuple(
            find_layout(file, ord_map=self.ord_map, raw_order=self.raw_order)
            for file in self.records.files
        )

    def __len__(self) -> int:
        return len(self.records)

    @property
    def damage(self) -> list[Damage]:
        return self.records.damage

    def sample(self, number: int) -> WordSample:
        """Return the picture, resized and in `order`, with its text and name."""
        which, inside = self.records.locate(number)
        file, layout = self.records.files[which], self.layouts[which]
        record = split_example(file[inside])
        picture = read_picture(record, layout, self.height, self.width)
        resized = np.empty((self.height, self.width, 3), np.uint8)
        self._resize_into(resized, picture, layout)
        return WordSample(
            resized, self.fold(read_text(record, layout)), read_name(record, layout, file, inside)
        )

    def fill(self, pictures: Picture, numbers: Sequence[int]) -> list[str | None]:
        """Put the pictures of these samples into the rows of an N x height x width x 3 array.

        Returns their texts; None for what cannot be read, whose row stays as it was. All are
        parsed, then all decoded, then all resized: a step that is repeated runs faster.
        """
        parsed = [self._parse(number) for number in numbers]
        decoded = [None if one is None else self._decode(one) for one in parsed]
        texts: list[str | None] = [None] * len(parsed)
        for row, (one, picture) in enumerate(zip(parsed, decoded, strict=True)):
            if one is not None and picture is not None:
                self._resize_into(pictures[row], picture, one.layout)
                texts[row] = one.text
        return texts

    def text(self, number: int) -> str:
        """Return the label alone; no picture is decoded."""
        which, inside = self.records.locate(number)
        record = split_example(self.records.files[which][inside])
        return self.fold(read_text(record, self.layouts[which]))

    def name(self, number: int) -> str:
        """Return the path kept in the record, or else file and record number."""
        which, inside = self.records.locate(number)
        file = self.records.files[which]
        return read_name(split_example(file[inside]), self.layouts[which], file, inside)

    def where(self, number: int) -> str:
        return self.records.where(number)

    def fold(self, text: str) -> str:
        return text.lower() if self.case == "lower" else text

    def _parse(self, number: int) -> _Parsed | None:
        which, inside = self.records.locate(number)
        layout = self.layouts[which]
        try:
            record = split_example(self.records.files[which][inside])
            return _Parsed(record, layout, self.fold(read_text(record, layout)))
        except RecordError:
            return None

    def _decode(self, parsed: _Parsed) -> Picture | None:
        try:
            return read_picture(parsed.record, parsed.layout, self.height, self.width)
        except (PictureError, RecordError):
            return None

    def _resize_into(self, target: Picture, picture: Picture, layout: FileLayout) -> None:
        resize_into(target, picture, self.filter)
        if layout.order != self.order:
            target[...] = target[:, :, ::-1].copy()


def find_layout(
    file: RecordFile, *, ord_map: Path | None = None, raw_order: Order | None = None
) -> FileLayout:
    """Recognise the layout of a file from its first readable record."""
    for number in range(len(file)):
        try:
            names = {str(name, "utf-8", "replace") for name in split_example(file[number])}
        except RecordError:
            continue
        if {"image/encoded", "image/text"} <= names:
            return FileLayout("encoded", "rgb", None)
        if {"images", "labels"} <= names:
            order: Order = "rgb" if "labels_length" in names else "bgr"
            return FileLayout("raw", raw_order or order, _find_labels(file.path, ord_map))
        shown = ", ".join(f"`{name}`" for name in sorted(names)[:8]) or "none"
        raise RecordError(
            f"`{file.path}` does not hold words; the features of its records are: {shown}",
            hint="words need `image/encoded` and `image/text`, or `images` and `labels`",
        )
    return FileLayout("encoded", "rgb", None)


def read_text(record: Mapping[bytes, memoryview], layout: FileLayout) -> str:
    """Return the label of one record as it was written."""
    if layout.labels is None:
        value = _first(record, b"image/text")
        if value is None:
            raise _missing("image/text")
        return decode_text(value)
    labels = record.get(b"labels")
    classes = None if labels is None else integers(labels)
    if classes is None:
        raise _missing("labels")
    blank = layout.labels.blank
    if classes and min(classes) < 0:
        raise RecordError(
            f"a record has the class number {min(classes)}",
            hint="make the records again; class numbers are 0 or more",
        )
    return layout.labels.decode(number for number in classes if number < blank)


def read_picture(
    record: Mapping[bytes, memoryview], layout: FileLayout, height: int = RAW_HEIGHT, width: int = 0
) -> Picture:
    """Return the picture of one record in the order of its layout.

    Raw records do not tell their size: it is `height` x `width` where that fits the number
    of values, else the originals' height of 32 and as many columns as there are.
    """
    name = "image/encoded" if layout.layout == "encoded" else "images"
    value = _first(record, name.encode())
    if value is None:
        raise _missing(name)
    if layout.layout == "encoded":
        return decode_picture(value)
    if len(value) != height * width * 3:
        height, width = RAW_HEIGHT, len(value) // (RAW_HEIGHT * 3)
    if not width or height * width * 3 != len(value):
        raise RecordError(
            f"a raw picture of {len(value)} bytes is not {RAW_HEIGHT} rows of RGB values",
            hint="make the records again; raw pictures are 32 x 100 x 3 or 32 x 280 x 3 bytes",
        )
    return np.frombuffer(value, np.uint8).reshape(height, width, 3).copy()


def read_name(
    record: Mapping[bytes, memoryview], layout: FileLayout, file: RecordFile, number: int
) -> str:
    """Return the path a record keeps, or else file and record number."""
    key = b"image/path" if layout.layout == "encoded" else b"imagepaths"
    value = _first(record, key)
    return str(value, "utf-8", "replace") if value else f"{file.path.name}:{number}"


def _find_labels(path: Path, ord_map: Path | None) -> Alphabet:
    if ord_map is not None:
        return read_alphabet(ord_map)
    for folder in (path.parent, path.parent.parent):
        found = find_ord_map(folder)
        if found is not None:
            return read_alphabet(found)
    raise DataError(
        f"`{path}` holds class numbers, and there is no ord_map.json that says what they mean",
        hint=f"put the ord_map.json made with these records into `{path.parent}`",
    )


def _first(record: Mapping[bytes, memoryview], name: bytes) -> memoryview | None:
    feature = record.get(name)
    return None if feature is None else first_bytes(feature)


def _missing(name: str) -> RecordError:
    return RecordError(
        f"a record has no feature `{name}`",
        hint="make the records again; `trainferry data check` lists all such records",
    )
