"""Signs in record files, as FSNS has them: views side by side, a text, and its codes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trainferry.errors import DataError, PictureError, RecordError
from trainferry.train.data.example import split_example
from trainferry.train.data.pictures import Picture, decode_picture
from trainferry.train.data.record_index import Damage
from trainferry.train.data.signs.charset import LONGEST_TEXT, Charset
from trainferry.train.data.signs.example import (
    SIDE,
    VIEWS,
    Record,
    choose_text,
    count_present,
    is_sign,
    read_codes,
    read_encoded,
    read_text,
)
from trainferry.train.data.tfrecord import RecordFile, RecordSet, find_records

_CHECKED = 16


@dataclass(frozen=True)
class SignSample:
    """One sign: its views side by side, how many show something, its text and codes."""

    picture: Picture
    present: int
    text: str
    codes: NDArray[np.int64]
    name: str


@dataclass
class SignRecords:
    """The signs of several record files.

    Raises RecordError at once when a file holds no signs, signs of another size, or codes
    of another charset: one look at its first records tells.
    """

    paths: Sequence[Path]
    charset: Charset
    _: KW_ONLY
    views: int = VIEWS
    height: int = SIDE
    view_width: int = SIDE
    length: int = LONGEST_TEXT
    records: RecordSet = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.paths = tuple(Path(path) for path in self.paths)
        self.records = RecordSet(self.paths)
        for file in self.records.files:
            self._check_file(file)

    def __len__(self) -> int:
        return len(self.records)

    @property
    def damage(self) -> list[Damage]:
        return self.records.damage

    @property
    def width(self) -> int:
        """Width of all views together."""
        return self.views * self.view_width

    def sample(self, number: int) -> SignSample:
        record = self._record(number)
        codes = self._read_codes(record)
        return SignSample(
            self._read_picture(record),
            count_present(record, self.views),
            choose_text(record, codes, self.charset),
            np.asarray(codes + [self.charset.null] * (self.length - len(codes)), np.int64),
            self.where(number),
        )

    def fill(
        self, pictures: Picture, codes: NDArray[np.int64], numbers: Sequence[int]
    ) -> list[str | None]:
        """Put pictures and codes of these samples into the rows of two arrays.

        `pictures` is N x height x width x 3, `codes` N x length. Returns the texts; None for
        what cannot be read, whose rows stay as they were.
        """
        return [
            self._fill_row(pictures[row], codes[row], number) for row, number in enumerate(numbers)
        ]

    def text(self, number: int) -> str:
        """Return the text alone, as the codes read; no picture is decoded."""
        record = self._record(number)
        return choose_text(record, self._read_codes(record), self.charset)

    def where(self, number: int) -> str:
        return self.records.where(number)

    def _fill_row(self, picture: Picture, codes: NDArray[np.int64], number: int) -> str | None:
        try:
            record = self._record(number)
            found = self._read_codes(record)
            text = choose_text(record, found, self.charset)
            picture[...] = self._read_picture(record)
        except (PictureError, RecordError):
            return None
        codes[: len(found)] = found
        codes[len(found) :] = self.charset.null
        return text

    def _record(self, number: int) -> Record:
        which, inside = self.records.locate(number)
        return split_example(self.records.files[which][inside])

    def _read_picture(self, record: Record) -> Picture:
        picture = decode_picture(read_encoded(record))
        height, width = picture.shape[:2]
        if (height, width) != (self.height, self.width):
            raise self._wrong_size(width, height)
        return picture

    def _wrong_size(self, width: int, height: int) -> RecordError:
        views, rest = divmod(width, self.view_width)
        shown = f", {views} views" if not rest and height == self.height else ""
        views, rest = divmod(width, height)
        told = f"picture.views={views}, picture.height={height} and picture.width={height}"
        return RecordError(
            f"a picture is {width} x {height}{shown}; {self.views} views of "
            f"{self.view_width} x {self.height} side by side are {self.width} x {self.height}",
            hint="use a recipe with as many views of that size"
            + (f" (perhaps {told})" if views and not rest else "")
            + ", or make the records again",
        )

    def _read_codes(self, record: Record) -> list[int]:
        codes = read_codes(record, self.charset)
        if len(codes) > self.length:
            raise RecordError(
                f"a text has {len(codes)} characters, more than {self.length}",
                hint="leave such records out, or train a network with a longer output",
            )
        return codes

    def _check_file(self, file: RecordFile) -> None:
        looked, agreeing = 0, 0
        for number in range(min(len(file), _CHECKED)):
            try:
                record = split_example(file[number])
            except RecordError:
                continue
            if not looked:
                if not is_sign(record):
                    raise _no_signs(file.path, record)
                self._check_size(record)
            looked += 1
            agreeing += self._agrees(record)
        if looked and not agreeing:
            raise RecordError(
                f"the codes in `{file.path}` do not say what its texts say",
                hint="pass the charset file that these records were made with",
            )

    def _check_size(self, record: Record) -> None:
        try:
            self._read_picture(record)
        except PictureError:
            return  # told where that sample is used

    def _agrees(self, record: Record) -> bool:
        try:
            text = read_text(record)
            codes = self._read_codes(record)
            return text is None or codes == self.charset.encode(text)
        except DataError:
            return False


def find_signs(folder: Path, split: str) -> list[Path]:
    """Return the files of one split: ours, or FSNS's `train/train-00000-of-00512`."""
    return find_fsns(folder, split) or find_records(folder, split)


def find_fsns(folder: Path, split: str) -> list[Path]:
    """Return the files of one split that are called as those of FSNS; there may be none."""
    names = ("validation", "val") if split in ("val", "validation") else (split,)
    for name in names:
        for place in (folder / name, folder):
            found = [
                path
                for path in sorted(place.glob(f"{name}-*-of-*"))
                if re.fullmatch(rf"{re.escape(name)}-\d+-of-\d+", path.name)
            ]
            if found:
                return found
    return []


def holds_signs(path: Path) -> bool:
    """Tell from its first readable record whether a file holds signs: pictures with codes."""
    file = RecordFile(path)
    for number in range(len(file)):
        try:
            record = split_example(file[number])
        except RecordError:
            continue
        return b"image/encoded" in record and b"image/class" in record
    return False


def _no_signs(path: Path, record: Record) -> RecordError:
    names = sorted(str(name, "utf-8", "replace") for name in record)
    shown = ", ".join(f"`{name}`" for name in names[:8]) or "none"
    return RecordError(
        f"`{path}` does not hold signs; the features of its records are: {shown}",
        hint="signs need `image/encoded` and `image/class` or `image/text`",
    )
