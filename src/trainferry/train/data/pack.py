"""Pictures and their texts into shards of records; what cannot be packed is listed beside them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainferry.counted import counted
from trainferry.errors import DataError, PictureError
from trainferry.train.data.example import build_example
from trainferry.train.data.pictures import Picture, decode_picture, encode_png, resize_picture
from trainferry.train.data.skipped import count_reasons, skipped_to_json, summarise_skipped
from trainferry.train.data.tfrecord import RecordFile, RecordWriter, count_files, has_records
from trainferry.train.data.whole_file import write_whole
from trainferry.train.data.words.alphabet import LATIN36, Alphabet, add_alphabet
from trainferry.train.data.words.records import Layout

PLACE = "tfrecords"
NO_TAB = "line without a tab"
RAW_SIZE = (32, 100)
_FACTS = "packed.json"
_KEPT_AS_THEY_ARE = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")


@dataclass
class PackReport:
    """How many words were written, and every one that was not, with its reason."""

    written: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    kept_files: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, other: PackReport) -> None:
        self.written += other.written
        self.skipped += other.skipped
        self.files += other.files
        self.kept_files += other.kept_files

    def reasons(self) -> dict[str, int]:
        return dict(count_reasons(self.skipped))

    def summary(self) -> str:
        files = count_files(self.files)
        lines = [f"wrote {counted(self.written, 'word')} to {files}"]
        if self.kept_files:
            lines.append(f"{self.kept_files} of the files were finished before and kept")
        lines += self.notes
        return "\n".join([*lines, *summarise_skipped(self.skipped, self.reasons())])

    def to_json(self) -> dict[str, Any]:
        return {
            "written": self.written,
            "files": [str(path) for path in self.files],
            "kept_files": self.kept_files,
            "notes": self.notes,
            **skipped_to_json(self.skipped, self.reasons()),
        }


@dataclass(frozen=True)
class Problem:
    """What a list or a file has in place of a word, with the reason."""

    line: str
    reason: str


@dataclass(frozen=True)
class Word:
    """A picture as it is in its file, its text, and what to call it."""

    name: str
    text: str
    data: bytes | memoryview


@dataclass(frozen=True)
class Shard:
    """One record file to write."""

    target: Path
    layout: Layout


def pack_shard(shard: Shard, words: Iterable[Word | Problem]) -> PackReport:
    """Write one shard, or keep the finished one."""
    listed = skip_list(shard.target)
    if shard.target.exists():
        return _report_finished(shard.target, listed)
    report = PackReport(files=[shard.target])
    with RecordWriter(shard.target) as writer:
        for word in words:
            if isinstance(word, Problem):
                report.skipped.append((word.line, word.reason))
                continue
            try:
                record = _build_record(word, shard.layout)
            except _SkippedError as error:
                report.skipped.append((word.name, str(error)))
            else:
                writer.write(record)
        report.written = writer.count
        _write_skipped(listed, report.skipped)
    return report


def prepare_folder(folder: Path, split: str, facts: dict[str, Any], layout: Layout) -> None:
    """Make the target folder; a split begun with other options is refused, not mixed."""
    if not re.fullmatch(r"[\w-]+", split):
        raise DataError(
            f"`{split}` cannot name a split", hint="use letters, such as train, val or test"
        )
    path = folder / _FACTS
    facts = {**facts, "layout": layout}
    known = read_facts(path)
    if known.get(split) != facts and has_records(folder, split):
        raise DataError(
            f"`{folder}` already holds `{split}` records of other data or options",
            hint="pass another folder to --to, another --split, or delete the old records",
        )
    for leftover in (folder / PLACE).glob(f".{split}_*.part"):
        leftover.unlink(missing_ok=True)
    if layout == "raw":
        add_alphabet(Alphabet(LATIN36), folder)
    write_whole(path, json.dumps({**known, split: facts}, indent=2, sort_keys=True).encode())


def require_words(report: PackReport, hint: str = "") -> None:
    """Raise DataError, and keep no record file, when nothing could be packed."""
    if report.written:
        return
    for path in report.files:
        path.unlink(missing_ok=True)  # an empty file would count as finished next time
    shown = "; ".join(f"{name}: {reason}" for name, reason in report.skipped[:3])
    tabs = any(reason == NO_TAB for _, reason in report.skipped)
    raise DataError(
        f"not one word could be packed{'; ' + shown if shown else ''}",
        hint="write a tab between file and text, no comma and no spaces"
        if tabs
        else hint or "check that the list and the pictures belong together",
    )


def path_inside(root: Path, name: str) -> Path | None:
    """Return the file called `name` below `root`, or None when it would lie elsewhere."""
    if not name or "\0" in name:
        return None
    base = os.path.realpath(root)
    path = os.path.realpath(os.path.join(base, name))  # noqa: PTH118 - resolved as one string
    return Path(path) if path.startswith(base.rstrip(os.sep) + os.sep) else None


def read_facts(path: Path) -> dict[str, Any]:
    """Return what an earlier packing wrote of itself; nothing where there was none."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise DataError(
            f"cannot read `{path}`: {error}", hint="pass another folder to --to, or delete it"
        ) from error
    return known if isinstance(known, dict) else {}


def skip_list(target: Path) -> Path:
    return target.with_name(f"{target.stem}.skipped.tsv")


def _build_record(word: Word, layout: Layout) -> bytes:
    try:
        picture = decode_picture(word.data)
    except PictureError as error:
        raise _SkippedError("unreadable picture", str(error)) from None
    if layout == "raw":
        picture = resize_picture(picture, *RAW_SIZE, "antialias")
        return _build_raw(picture, word.text, word.name)
    data = bytes(word.data)
    if not data.startswith(_KEPT_AS_THEY_ARE):
        data = encode_png(picture)
    return build_example({"image/encoded": data, "image/text": word.text, "image/path": word.name})


def _build_raw(picture: Picture, text: str, name: str) -> bytes:
    alphabet = Alphabet(LATIN36)
    text = text.lower()
    unknown = alphabet.unknown(text)
    if unknown:
        raise _SkippedError("unknown character", f"{''.join(sorted(unknown))!r} in {text!r}")
    return build_example(
        {
            "images": picture.tobytes(),
            "labels": alphabet.encode(text),
            "labels_length": len(text),
            "imagepaths": name,
        }
    )


class _SkippedError(Exception):
    """One word cannot be packed; the others go on."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")


def _report_finished(target: Path, listed: Path) -> PackReport:
    skipped = []
    if listed.exists():
        for line in listed.read_text(encoding="utf-8").splitlines():
            name, _, reason = line.partition("\t")
            skipped.append((name, reason))
    return PackReport(len(RecordFile(target)), skipped, [target], kept_files=1)


def _write_skipped(listed: Path, skipped: list[tuple[str, str]]) -> None:
    """Written before the shard gets its name, so that a finished shard has its list."""
    if skipped:
        text = "".join(f"{_one_line(name)}\t{_one_line(reason)}\n" for name, reason in skipped)
        write_whole(listed, text.encode("utf-8", "backslashreplace"))
    else:
        listed.unlink(missing_ok=True)


def _one_line(text: str) -> str:
    return " ".join(text.split())
