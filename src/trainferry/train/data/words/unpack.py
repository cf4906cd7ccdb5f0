"""Records back into pictures and a `gt.tsv`, as `data folder` reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trainferry.counted import counted
from trainferry.errors import DataError
from trainferry.train.data.example import first_bytes, split_example
from trainferry.train.data.new_folder import new_folder, safe_name, write_new
from trainferry.train.data.pictures import encode_png
from trainferry.train.data.skipped import skipped_to_json, summarise_skipped
from trainferry.train.data.tfrecord import RecordFile
from trainferry.train.data.words.labels import LIST
from trainferry.train.data.words.records import (
    FileLayout,
    find_layout,
    read_name,
    read_picture,
    read_text,
)


@dataclass
class UnpackReport:
    """How many pictures were written, and what could not be."""

    written: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def summary(self) -> str:
        lines = [f"wrote {counted(self.written, 'picture')} and {LIST}"]
        return "\n".join([*lines, *summarise_skipped(self.skipped)])

    def to_json(self) -> dict[str, Any]:
        return {
            "written": self.written,
            **skipped_to_json(self.skipped),
        }


def unpack_records(
    paths: Sequence[Path],
    folder: Path,
    *,
    ord_map: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> UnpackReport:
    """Write every picture and its text to a new folder, all or nothing.

    Encoded pictures are written byte for byte, raw ones as PNG.
    """
    report = UnpackReport()
    with new_folder(folder, last=LIST) as beside:
        files = [RecordFile(path) for path in paths]
        _unpack_all(files, beside, report, ord_map, progress or _no_progress)
    return report


def _unpack_all(
    files: Sequence[RecordFile],
    beside: Path,
    report: UnpackReport,
    ord_map: Path | None,
    progress: Callable[[int, int], None],
) -> None:
    total, done = sum(map(len, files)), 0
    taken: Counter[Path] = Counter()
    with (beside / LIST).open("w", encoding="utf-8", newline="\n") as listed:
        for file in files:
            report.skipped += [(one.path.name, str(one)) for one in file.damage]
            layout = find_layout(file, ord_map=ord_map)
            for number in range(len(file)):
                done += 1
                try:
                    name, text, data = _read(file, number, layout)
                except DataError as error:
                    report.skipped.append((f"{file.path.name}:{number}", str(error)))
                    continue
                path = write_new(beside, safe_name(name), data, taken)
                listed.write(f"{path.relative_to(beside).as_posix()}\t{text}\n")
                report.written += 1
                if done % 200 == 0 or done == total:
                    progress(done, total)


def _read(file: RecordFile, number: int, layout: FileLayout) -> tuple[str, str, bytes]:
    record = split_example(file[number])
    text = read_text(record, layout)
    if not text or "\n" in text or "\r" in text:
        raise DataError(
            f"the text {text!r} cannot stand on a line of {LIST}", hint="change the text"
        )
    name = read_name(record, layout, file, number)
    if layout.layout == "encoded":
        value = first_bytes(record[b"image/encoded"]) if b"image/encoded" in record else None
        if value is None:
            raise DataError("a record has no feature `image/encoded`", hint="make it again")
        return name, text, bytes(value)
    picture = read_picture(record, layout)
    if layout.order == "bgr":
        picture = np.ascontiguousarray(picture[:, :, ::-1])
    return name, text, encode_png(picture)


def _no_progress(done: int, total: int) -> None:
    """Say nothing."""
