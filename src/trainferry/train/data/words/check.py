"""What of the words can be trained on, and why the rest cannot."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trainferry.errors import DataError, PictureError, RecordError
from trainferry.train.data.check_report import Example, count_damage, drop, require_share
from trainferry.train.data.check_texts import (
    TextPart,
    TextReport,
    add_parts,
    keep_texts,
    quote_text,
    summarise_texts,
    texts_to_json,
)
from trainferry.train.data.example import split_example
from trainferry.train.data.tfrecord import find_records
from trainferry.train.data.words.alphabet import LATIN36, Alphabet
from trainferry.train.data.words.records import (
    RAW_HEIGHT,
    Case,
    WordRecords,
    read_picture,
    read_text,
)
from trainferry.train.data.workers import map_in_processes

REASONS = {
    "too_long": "label too long for the columns, counting repeats, or longer than allowed",
    "unknown_character": "label with a character that is not in the alphabet",
    "empty": "empty label",
    "unreadable_picture": "picture that cannot be decoded",
    "corrupt_record": "record that does not match its checksum or lacks a feature",
}
_ADVICE = {
    "too_long": "use a wider picture or a larger `max_length` in the recipe, or shorter words",
    "unknown_character": "take the characters from the labels: `trainferry data alphabet DATA "
    "--case {case}`, then --set task.alphabet_from=data; characters that only val or test have "
    "cannot be learnt",
    "empty": "give every picture a text; these records hold none",
    "unreadable_picture": "make the records again from whole pictures",
    "corrupt_record": "copy or make the record files again; these are damaged",
}
_CHUNK = 20_000
_PICTURE_CHUNK = 1_000


@dataclass
class WordCheck(TextReport):
    """Counts of kept and dropped records, and statistics of the kept labels in their `case`."""

    case: Case = "lower"

    def summary(self) -> str:
        return summarise_texts(self, REASONS, self.advice(), "label")

    def advice(self) -> dict[str, str]:
        return {reason: text.format(case=self.case) for reason, text in _ADVICE.items()}

    def to_json(self) -> dict[str, Any]:
        return texts_to_json(self)


def check_words(
    records: WordRecords,
    *,
    columns: int,
    max_length: int,
    pictures: bool,
    processes: int,
    progress: Callable[[int, int], None] | None = None,
) -> WordCheck:
    """Look at every label, and at every picture too when `pictures`, and count.

    CTC needs one column per character and one more between two equal ones.
    """
    total, size = len(records), _PICTURE_CHUNK if pictures else _CHUNK
    limits = _Limits(columns, max_length, pictures)
    spans = [(start, min(start + size, total)) for start in range(0, total, size)]
    dropped, examples = count_damage(records.damage, "corrupt_record", REASONS)
    known = total + len(records.damage)
    check = WordCheck(known, np.empty(0, np.int64), dropped, examples, case=records.case)
    parts = map_in_processes(_check_span, spans, processes, _prepare, (records, limits))
    add_parts(check, parts, records.alphabet.characters, total, progress)
    return check


def find_characters(folder: Path, split: str, case: Case) -> str:
    """Return every character of the labels of a split, in the order of their code points.

    Raises DataError for raw records: with another alphabet their labels mean other texts.
    """
    records = WordRecords(
        find_records(folder, split),
        Alphabet(LATIN36),
        case=case,
        height=RAW_HEIGHT,
        width=RAW_HEIGHT,
        filter="antialias",
        order="rgb",
    )
    if any(layout.layout == "raw" for layout in records.layouts):
        raise DataError(
            f"the records of `{folder}` hold class numbers, whose alphabet is their ord_map.json",
            hint="use that ord_map.json; it must not change while these records are in use",
        )
    found: set[str] = set()
    for number in range(len(records)):
        with contextlib.suppress(RecordError):  # `data check` counts what is corrupt
            found.update(records.text(number))
    if not found:
        raise DataError(
            f"the labels of `{folder}` hold no character",
            hint="run `trainferry data check` on it to see what is wrong",
        )
    return "".join(sorted(found))


def require_enough(check: WordCheck, minimum_share: float) -> None:
    """Raise DataError with the main reason when too few records are left to train on."""
    require_share(check, minimum_share, REASONS, check.advice())


@dataclass(frozen=True)
class _Limits:
    columns: int
    max_length: int
    pictures: bool


_in_process: dict[str, tuple[WordRecords, _Limits]] = {}


def _prepare(records: WordRecords, limits: _Limits) -> None:
    _in_process["check"] = (records, limits)


def _check_span(span: tuple[int, int]) -> TextPart:
    records, limits = _in_process["check"]
    part = TextPart()
    kept: list[int] = []
    texts: list[str] = []
    for number in range(*span):
        text, problem = _check_record(records, limits, number)
        if problem is None:
            kept.append(number)
            texts.append(text)
            continue
        reason, detail = problem
        drop(part, reason, Example(records.where(number), text, detail))
    keep_texts(part, kept, texts)
    return part


def _check_record(
    records: WordRecords, limits: _Limits, number: int
) -> tuple[str, tuple[str, str] | None]:
    text = ""
    try:
        which, inside = records.records.locate(number)
        layout = records.layouts[which]
        record = split_example(records.records.files[which][inside])
        text = records.fold(read_text(record, layout))
        problem = _check_text(text, records, limits)
        if problem is None and limits.pictures:
            read_picture(record, layout, records.height, records.width)
    except PictureError as error:
        return text, ("unreadable_picture", str(error))
    except DataError as error:
        return text, ("corrupt_record", str(error))
    return text, problem


def _check_text(text: str, records: WordRecords, limits: _Limits) -> tuple[str, str] | None:
    if not text:
        return "empty", "the label is empty"
    unknown = records.alphabet.unknown(text)
    if unknown:
        return "unknown_character", _tell_unknown(unknown, records)
    length = len(text)
    if length > limits.max_length:
        return "too_long", f"{length} characters; at most {limits.max_length} are allowed"
    if 2 * length > limits.columns:
        repeats = sum(map(str.__eq__, text, text[1:]))
        if length + repeats > limits.columns:
            return "too_long", (
                f"{length} characters and {repeats} repeats; there are {limits.columns} columns"
            )
    return None


def _tell_unknown(unknown: set[str], records: WordRecords) -> str:
    told = f"not in the alphabet: {quote_text(''.join(sorted(unknown)))}"
    if records.case == "lower" and any(one.upper() in records.alphabet for one in unknown):
        return f"{told}, which has capitals; task.case=keep does not turn labels into lower case"
    return told
