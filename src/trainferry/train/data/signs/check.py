"""What of the signs can be trained on, and why the rest cannot."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from trainferry.errors import PictureError, RecordError
from trainferry.train.data.check_report import Example, count_damage, drop, require_share
from trainferry.train.data.check_texts import (
    TextPart,
    TextReport,
    add_parts,
    keep_texts,
    summarise_texts,
    texts_to_json,
)
from trainferry.train.data.example import first_bytes, integers, split_example
from trainferry.train.data.record_index import HEADER_BYTES
from trainferry.train.data.signs.charset import Charset
from trainferry.train.data.signs.records import SignRecords
from trainferry.train.data.tfrecord import RecordFile
from trainferry.train.data.workers import map_in_processes

SIGN_REASONS = {
    "too_long": "text longer than the network spells",
    "unknown_character": "text with a character, or a code, that is not in the charset",
    "damaged_record": "record that is damaged, or lacks a feature",
    "unreadable_picture": "picture that cannot be decoded, or has another size",
}
_ADVICE = {
    "too_long": "use a larger `max_length` in the recipe, or shorter texts",
    "unknown_character": "use the charset file that these records were made with",
    "damaged_record": "copy or make the record files again; these are damaged",
    "unreadable_picture": "make the records again from whole pictures of one size",
}
_CHUNK = 20_000
_PICTURE_CHUNK = 500


@dataclass
class SignCheck(TextReport):
    """Counts of kept and dropped records, and statistics of the kept texts."""

    def summary(self) -> str:
        return summarise_texts(self, SIGN_REASONS, _ADVICE, "text")

    def to_json(self) -> dict[str, Any]:
        return texts_to_json(self)


def check_signs(
    records: SignRecords,
    *,
    max_length: int,
    pictures: bool = False,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> SignCheck:
    """Look at every text, and at every picture and checksum too when `pictures`, and count."""
    dropped, examples = count_damage(records.damage, "damaged_record", SIGN_REASONS)
    known = len(records) + len(records.damage)
    check = SignCheck(known, np.empty(0, np.int64), dropped, examples)
    jobs = list(_jobs(records, _PICTURE_CHUNK if pictures else _CHUNK))
    prepared = (records, _Limits(max_length, pictures))
    parts = map_in_processes(_check_span, jobs, processes, _prepare, prepared)
    add_parts(check, parts, _readable(records.charset), len(records), progress)
    return check


def require_enough(check: SignCheck, minimum_share: float) -> None:
    """Raise DataError with the main reason when too few records are left to train on."""
    require_share(check, minimum_share, SIGN_REASONS, _ADVICE)


@dataclass(frozen=True)
class _Limits:
    max_length: int
    pictures: bool


@dataclass(frozen=True)
class _Job:
    """Some records of one file; `first` is the number of its first record among all."""

    file: int
    first: int
    start: int
    stop: int


class _UnfitError(Exception):
    """A record that cannot be trained on: the reason, its text, and what is wrong."""

    def __init__(self, reason: str, text: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.text, self.detail = reason, text, detail


_in_process: dict[str, tuple[SignRecords, _Limits]] = {}


def _prepare(records: SignRecords, limits: _Limits) -> None:
    _in_process["check"] = (records, limits)


def _readable(charset: Charset) -> str:
    codes = (code for code in range(charset.classes) if code != charset.null)
    return "".join(charset.decode([code]) for code in codes)


def _jobs(records: SignRecords, size: int) -> Iterator[_Job]:
    first = 0
    for which, file in enumerate(records.records.files):
        for start in range(0, len(file), size):
            yield _Job(which, first, start, min(start + size, len(file)))
        first += len(file)


def _check_span(job: _Job) -> TextPart:
    records, limits = _in_process["check"]
    part = TextPart()
    kept: list[int] = []
    texts: list[str] = []
    data = _unchecked(records.records.files[job.file], job)
    for number, record in zip(
        range(job.first + job.start, job.first + job.stop), data, strict=True
    ):
        try:
            texts.append(_check_record(records, limits, number, record))
        except _UnfitError as unfit:
            example = Example(records.where(number), unfit.text, unfit.detail)
            drop(part, unfit.reason, example)
        else:
            kept.append(number)
    keep_texts(part, kept, texts)
    return part


def _unchecked(file: RecordFile, job: _Job) -> Iterator[memoryview]:
    """Yield records without comparing checksums, so that pictures are not even read."""
    with file.path.open("rb") as opened:
        view = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    for offset in file.offsets[job.start : job.stop].tolist():
        start = offset + HEADER_BYTES
        yield view[start : start + int.from_bytes(view[offset : offset + 8], "little")]


def _check_record(records: SignRecords, limits: _Limits, number: int, record: memoryview) -> str:
    try:
        text = _read_text(split_example(record), records.charset)
        if limits.pictures:
            _ = records.records[number]  # compares its checksum
    except RecordError as error:
        raise _UnfitError("damaged_record", "", str(error)) from None
    if len(text) > limits.max_length:
        detail = f"{len(text)} characters; at most {limits.max_length} are spelt"
        raise _UnfitError("too_long", text, detail)
    if limits.pictures:
        try:
            records.sample(number)
        except (PictureError, RecordError) as error:
            raise _UnfitError("unreadable_picture", text, str(error)) from None
    return text


def _read_text(record: dict[bytes, memoryview], charset: Charset) -> str:
    """Return what the codes say, or the text where there are none."""
    if b"image/encoded" not in record:
        raise _UnfitError("damaged_record", "", "the record has no feature `image/encoded`")
    text = _written(record)
    codes = _codes(record)
    if codes is None:
        if text is None:
            raise _UnfitError("damaged_record", "", "the record has neither codes nor a text")
        unknown = "".join(sorted(charset.unknown(text)))
        if unknown:
            raise _UnfitError("unknown_character", text, f"not in the charset: {unknown!r}")
        return charset.canonical(text)
    codes = codes[: codes.index(charset.null)] if charset.null in codes else codes
    wrong = next((code for code in codes if not 0 <= code < charset.classes), None)
    if wrong is not None:
        detail = f"the code {wrong}; the charset has {charset.classes}"
        raise _UnfitError("unknown_character", text or "", detail)
    return charset.decode(codes)


def _codes(record: dict[bytes, memoryview]) -> list[int] | None:
    codes: list[int] | None = None
    for name in (b"image/class", b"image/unpadded_class"):
        if not codes and name in record:
            codes = integers(record[name])
    return codes


def _written(record: dict[bytes, memoryview]) -> str | None:
    value = first_bytes(record[b"image/text"]) if b"image/text" in record else None
    if value is None:
        return None
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError:
        detail = f"the text {bytes(value)[:20]!r} is not UTF-8"
        raise _UnfitError("damaged_record", "", detail) from None
