"""What of the signs can be trained on, and why the rest cannot."""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainferry.errors import DataError, PictureError, RecordError
from trainferry.train.data.charset import Charset
from trainferry.train.data.check import EXAMPLES, Example
from trainferry.train.data.example import first_bytes, integers, split_example
from trainferry.train.data.record_index import HEADER_BYTES
from trainferry.train.data.sign_records import SignRecords
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
_SHOWN = 60


@dataclass
class SignCheck:
    """Counts of kept and dropped records, and statistics of the kept texts."""

    total: int
    kept: NDArray[np.int64]
    dropped: dict[str, int]
    examples: dict[str, list[Example]]
    lengths: dict[int, int]
    characters: dict[str, int]
    never_seen: str

    @property
    def kept_share(self) -> float:
        return len(self.kept) / self.total if self.total else 0.0

    def summary(self) -> str:
        lines = [f"kept {len(self.kept):,} of {self.total:,} records ({self.kept_share:.1%})"]
        for reason, count in self.dropped.items():
            if count:
                lines.append(f"dropped {count:,}  {reason}: {SIGN_REASONS[reason]}")
                lines += [
                    f"    {one.record}  {one.label!r}  {one.detail}"
                    for one in self.examples[reason]
                ]
        if self.lengths:
            count = sum(self.lengths.values())
            mean = sum(length * number for length, number in self.lengths.items()) / count
            lines.append(
                f"texts: {min(self.lengths)} to {max(self.lengths)} characters, "
                f"{mean:.1f} on average; {len(self.characters)} different characters"
            )
            if self.lengths.get(0):
                lines.append(f"{self.lengths[0]:,} of them are empty: nothing is to be read there")
            if self.never_seen:
                shown, rest = self.never_seen[:_SHOWN], len(self.never_seen) - _SHOWN
                more = f" and {rest} more" if rest > 0 else ""
                lines.append(f"never seen in a text: {shown}{more}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the facts as `json.dumps` takes them; `kept` is the number, not the list."""
        return {
            "total": self.total,
            "kept": len(self.kept),
            "dropped": dict(self.dropped),
            "examples": {
                reason: [vars(example) for example in examples]
                for reason, examples in self.examples.items()
                if examples
            },
            "lengths": {str(length): count for length, count in sorted(self.lengths.items())},
            "characters": dict(sorted(self.characters.items())),
            "never_seen": self.never_seen,
        }


def check_signs(
    records: SignRecords,
    *,
    max_length: int,
    pictures: bool = False,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> SignCheck:
    """Look at every text, and at every picture and checksum too when `pictures`, and count."""
    check = _start(records)
    jobs = list(_jobs(records, _PICTURE_CHUNK if pictures else _CHUNK))
    prepared = (records, _Limits(max_length, pictures))
    kept = [np.empty(0, np.int64)]
    done = 0
    for job, part in zip(
        jobs, map_in_processes(_check_span, jobs, processes, _prepare, prepared), strict=True
    ):
        _add(check, part)
        kept.append(part.kept)
        done += job.stop - job.start
        if progress is not None:
            progress(done, len(records))
    check.kept = np.concatenate(kept)
    charset = records.charset
    codes = (code for code in range(charset.classes) if code != charset.null)
    readable = "".join(charset.decode([code]) for code in codes)
    check.never_seen = "".join(one for one in readable if one not in check.characters)
    return check


def require_enough(check: SignCheck, minimum_share: float) -> None:
    """Raise DataError with the main reason when too few records are left to train on."""
    if len(check.kept) and check.kept_share >= minimum_share:
        return
    if not check.total:
        raise DataError(
            "the record files hold no records",
            hint="make the data again with `trainferry data`, or pass another folder",
        )
    reason = max(check.dropped, key=lambda name: check.dropped[name])
    example = next((f", for example {one.detail}" for one in check.examples[reason]), "")
    raise DataError(
        f"only {len(check.kept):,} of {check.total:,} records can be used; "
        f"{check.dropped[reason]:,} have a {SIGN_REASONS[reason]}{example}",
        hint=_ADVICE[reason],
    )


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


@dataclass
class _Part:
    kept: NDArray[np.int64]
    dropped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Example]] = field(default_factory=dict)
    lengths: Counter[int] = field(default_factory=Counter)
    characters: Counter[str] = field(default_factory=Counter)


class _UnfitError(Exception):
    """A record that cannot be trained on: the reason, its text, and what is wrong."""

    def __init__(self, reason: str, text: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.text, self.detail = reason, text, detail


_in_process: dict[str, tuple[SignRecords, _Limits]] = {}


def _prepare(records: SignRecords, limits: _Limits) -> None:
    _in_process["check"] = (records, limits)


def _start(records: SignRecords) -> SignCheck:
    """Begin with what could not even be numbered as a record."""
    damage = records.damage
    check = SignCheck(
        total=len(records) + len(damage),
        kept=np.empty(0, np.int64),
        dropped=dict.fromkeys(SIGN_REASONS, 0),
        examples={reason: [] for reason in SIGN_REASONS},
        lengths={},
        characters={},
        never_seen="",
    )
    check.dropped["damaged_record"] = len(damage)
    check.examples["damaged_record"] = [
        Example(
            f"{one.path.name} at byte {one.offset}", "", f"{one.reason}, {one.bytes} bytes skipped"
        )
        for one in damage[:EXAMPLES]
    ]
    return check


def _jobs(records: SignRecords, size: int) -> Iterator[_Job]:
    first = 0
    for which, file in enumerate(records.records.files):
        for start in range(0, len(file), size):
            yield _Job(which, first, start, min(start + size, len(file)))
        first += len(file)


def _add(check: SignCheck, part: _Part) -> None:
    for reason, count in part.dropped.items():
        check.dropped[reason] += count
        room = EXAMPLES - len(check.examples[reason])
        check.examples[reason] += part.examples[reason][:room]
    for length, count in part.lengths.items():
        check.lengths[length] = check.lengths.get(length, 0) + count
    for character, count in part.characters.items():
        check.characters[character] = check.characters.get(character, 0) + count


def _check_span(job: _Job) -> _Part:
    records, limits = _in_process["check"]
    part = _Part(np.empty(0, np.int64))
    kept: list[int] = []
    texts: list[str] = []
    data = _unchecked(records.records.files[job.file], job)
    for number, record in zip(
        range(job.first + job.start, job.first + job.stop), data, strict=True
    ):
        try:
            texts.append(_check_record(records, limits, number, record))
        except _UnfitError as unfit:
            part.dropped[unfit.reason] += 1
            examples = part.examples.setdefault(unfit.reason, [])
            if len(examples) < EXAMPLES:
                examples.append(Example(records.where(number), unfit.text, unfit.detail))
        else:
            kept.append(number)
    part.kept = np.array(kept, dtype=np.int64)
    part.lengths.update(map(len, texts))
    part.characters.update("".join(texts))
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
