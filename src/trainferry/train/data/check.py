"""What of the words can be trained on, and why the rest cannot."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainferry.errors import DataError, PictureError, RecordError
from trainferry.train.data.alphabet import LATIN36, Alphabet
from trainferry.train.data.example import split_example
from trainferry.train.data.tfrecord import find_records
from trainferry.train.data.word_records import (
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
    "unknown_character": "use a recipe whose alphabet has these characters, or `case` lower",
    "empty": "give every picture a text; these records hold none",
    "unreadable_picture": "make the records again from whole pictures",
    "corrupt_record": "copy or make the record files again; these are damaged",
}
EXAMPLES = 5
_CHUNK = 20_000
_PICTURE_CHUNK = 1_000


@dataclass(frozen=True)
class Example:
    """A dropped record: where it is, what its label says, and what is wrong with it."""

    record: str
    label: str
    detail: str


@dataclass
class WordCheck:
    """Counts of kept and dropped records, and statistics of the kept labels."""

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
                lines.append(f"dropped {count:,}  {reason}: {REASONS[reason]}")
                lines += [
                    f"    {example.record}  {example.label!r}  {example.detail}"
                    for example in self.examples[reason]
                ]
        if self.lengths:
            count = sum(self.lengths.values())
            mean = sum(length * number for length, number in self.lengths.items()) / count
            lines.append(
                f"labels: {min(self.lengths)} to {max(self.lengths)} characters, "
                f"{mean:.1f} on average; {len(self.characters)} different characters"
            )
        if self.never_seen and len(self.kept):
            shown = self.never_seen[:60]
            more = f" and {len(self.never_seen) - 60} more" if len(self.never_seen) > 60 else ""
            lines.append(f"never seen in a label: {shown}{more}")
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
    result = _start(records)
    kept = [np.empty(0, np.int64)]
    for (_, stop), part in zip(
        spans,
        map_in_processes(_check_span, spans, processes, _prepare, (records, limits)),
        strict=True,
    ):
        kept.append(part.kept)
        _add(result, part)
        if progress is not None:
            progress(stop, total)
    result.kept = np.concatenate(kept)
    result.never_seen = "".join(
        one for one in records.alphabet.characters if one not in result.characters
    )
    return result


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
        f"{check.dropped[reason]:,} have {_article(REASONS[reason])}{example}",
        hint=_ADVICE[reason],
    )


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


@dataclass(frozen=True)
class _Limits:
    columns: int
    max_length: int
    pictures: bool


@dataclass
class _Part:
    kept: NDArray[np.int64]
    dropped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Example]] = field(default_factory=dict)
    lengths: Counter[int] = field(default_factory=Counter)
    characters: Counter[str] = field(default_factory=Counter)


_in_process: dict[str, tuple[WordRecords, _Limits]] = {}


def _prepare(records: WordRecords, limits: _Limits) -> None:
    _in_process["check"] = (records, limits)


def _start(records: WordRecords) -> WordCheck:
    """Begin with what could not even be numbered as a record."""
    damage = records.damage
    check = WordCheck(
        total=len(records) + len(damage),
        kept=np.empty(0, np.int64),
        dropped=dict.fromkeys(REASONS, 0),
        examples={reason: [] for reason in REASONS},
        lengths={},
        characters={},
        never_seen="",
    )
    check.dropped["corrupt_record"] = len(damage)
    check.examples["corrupt_record"] = [
        Example(
            f"{one.path.name} at byte {one.offset}", "", f"{one.reason}, {one.bytes} bytes skipped"
        )
        for one in damage[:EXAMPLES]
    ]
    return check


def _add(check: WordCheck, part: _Part) -> None:
    for reason, count in part.dropped.items():
        check.dropped[reason] += count
        room = EXAMPLES - len(check.examples[reason])
        check.examples[reason] += part.examples[reason][:room]
    for length, count in part.lengths.items():
        check.lengths[length] = check.lengths.get(length, 0) + count
    for character, count in part.characters.items():
        check.characters[character] = check.characters.get(character, 0) + count


def _check_span(span: tuple[int, int]) -> _Part:
    records, limits = _in_process["check"]
    part = _Part(np.empty(0, np.int64))
    kept: list[int] = []
    texts: list[str] = []
    for number in range(*span):
        text, problem = _check_record(records, limits, number)
        if problem is None:
            kept.append(number)
            texts.append(text)
            continue
        reason, detail = problem
        part.dropped[reason] += 1
        examples = part.examples.setdefault(reason, [])
        if len(examples) < EXAMPLES:
            examples.append(Example(records.where(number), text, detail))
    part.kept = np.array(kept, dtype=np.int64)
    part.lengths.update(map(len, texts))
    part.characters.update("".join(texts))
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
        return "unknown_character", f"not in the alphabet: {''.join(sorted(unknown))!r}"
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
