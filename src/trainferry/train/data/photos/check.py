"""What of the photographs can be trained on, and why the rest cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainferry.counted import counted
from trainferry.errors import DataError, PictureError
from trainferry.train.data.check_report import (
    CheckPart,
    CheckReport,
    Example,
    add_dropped,
    count_damage,
    counts_to_json,
    describe_counts,
    drop,
    require_share,
)
from trainferry.train.data.photos.labels import Labels
from trainferry.train.data.photos.records import MISSING, UNREADABLE, PhotoRecords
from trainferry.train.data.pictures import decode_picture
from trainferry.train.data.workers import map_in_processes

PHOTO_REASONS = {
    "label_out_of_range": "class label that is not one of the classes",
    "missing_label": "record without a class label",
    "damaged_record": "record that is damaged, or no photograph",
    "unreadable_picture": "picture that cannot be decoded",
}
_ADVICE = {
    "label_out_of_range": "use a recipe with the classes of these records, or their classes.json",
    "missing_label": "make the records again: a photograph needs `image/class/label`; or take a "
    "recipe for what they hold, such as crnn_small for words",
    "damaged_record": "copy or make the record files again; these are damaged",
    "unreadable_picture": "make the records again from whole pictures",
}
_CHUNK = 500
_SHOWN = 5
_UNEVEN = 2.0


@dataclass
class PhotoCheck(CheckReport):
    """Counts of kept and dropped records, and how many pictures each class has."""

    per_class: NDArray[np.int64]
    first_label: int
    names: tuple[str, ...] = ()

    def summary(self) -> str:
        lines = describe_counts(self, PHOTO_REASONS, _ADVICE, _show)
        if self.first_label == 0:
            lines.append("labels start at 0 in these records: one is added to each")
        if len(self.kept):
            lines += self._describe_classes()
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the facts as `json.dumps` takes them; `kept` is the number, not the list."""
        return {
            **counts_to_json(self),
            "first_label": self.first_label,
            "classes": [
                {"label": label, "name": self._name(label), "pictures": count}
                for label, count in enumerate(self.per_class.tolist(), 1)
            ],
        }

    def _describe_classes(self) -> list[str]:
        counts = self.per_class
        present = np.flatnonzero(counts)
        least, most = (int(present[pick(counts[present])]) for pick in (np.argmin, np.argmax))
        line = f"classes: {len(counts):,}"
        if len(present) < len(counts):
            line += f", {len(present):,} of them with pictures"
        if counts[least] == counts[most]:
            lines = [f"{line}; {counted(int(counts[most]), 'picture')} each"]
        else:
            lines = [
                f"{line}; from {counted(int(counts[least]), 'picture')} ({self._name(least + 1)}) "
                f"to {counts[most]:,} ({self._name(most + 1)}), "
                f"half of them {int(np.median(counts[present])):,} or more"
            ]
            if (ratio := float(counts[most] / counts[least])) > _UNEVEN:
                lines.append(f"uneven: the largest class has {ratio:.1f} times the smallest")
        empty = np.flatnonzero(counts == 0)
        if len(empty):
            shown = ", ".join(self._name(int(one) + 1) for one in empty[:_SHOWN])
            more = f" and {len(empty) - _SHOWN:,} more" if len(empty) > _SHOWN else ""
            lines.append(f"no picture of {counted(len(empty), 'class', 'classes')}: {shown}{more}")
        return lines

    def _name(self, label: int) -> str:
        return self.names[label - 1] if label <= len(self.names) else f"class {label}"


def check_photos(
    records: PhotoRecords,
    classes: int | Sequence[str],
    *,
    pictures: bool = False,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> PhotoCheck:
    """Look at every label, and at every picture and checksum too when `pictures`, and count.

    `classes` is how many there are, or their names, label 1 first.
    """
    count = classes if isinstance(classes, int) else len(classes)
    names = () if isinstance(classes, int) else tuple(classes)
    dropped, examples = count_damage(records.damage, "damaged_record", PHOTO_REASONS)
    known, nothing = len(records) + len(records.damage), np.empty(0, np.int64)
    check = PhotoCheck(known, nothing, dropped, examples, nothing, records.first_label, names)
    labels = records.labels()
    good = (labels >= 1) & (labels <= count)
    for number in np.flatnonzero(~good).tolist():
        reason, detail = _judge_label(int(labels[number]), count)
        drop(check, reason, Example(records.where(number), "", detail))
    kept = np.flatnonzero(good)
    if pictures:
        kept = _check_pictures(records, kept, check, processes, progress)
    check.kept = kept.astype(np.int64)
    check.per_class = _count(labels[kept], count)
    return check


def require_enough(check: PhotoCheck, minimum_share: float) -> None:
    """Raise DataError with the main reason when too few records are left to train on."""
    require_share(check, minimum_share, PHOTO_REASONS, _ADVICE)


def _show(example: Example) -> str:
    return f"{example.record}  {example.detail}"


def _judge_label(label: int, classes: int) -> tuple[str, str]:
    if label == MISSING:
        return "missing_label", "the record has no class label"
    if label == UNREADABLE:
        return "damaged_record", "the record is no tf.train.Example"
    if label < 0:
        return "label_out_of_range", "the class label is below the first"
    return "label_out_of_range", f"the class label is {label}; there are {classes} classes"


def _count(labels: Labels, classes: int) -> NDArray[np.int64]:
    return np.bincount(labels, minlength=classes + 1)[1:].astype(np.int64)


@dataclass
class _Part(CheckPart):
    bad: list[int] = field(default_factory=list)


_in_process: list[PhotoRecords] = []


def _prepare(records: PhotoRecords) -> None:
    _in_process[:] = [records]


def _check_pictures(
    records: PhotoRecords,
    kept: NDArray[np.int64],
    check: PhotoCheck,
    processes: int,
    progress: Callable[[int, int], None] | None,
) -> NDArray[np.int64]:
    jobs = [kept[start : start + _CHUNK].tolist() for start in range(0, len(kept), _CHUNK)]
    bad: list[int] = []
    done = 0
    parts = map_in_processes(_check_span, jobs, processes, _prepare, (records,))
    for job, part in zip(jobs, parts, strict=True):
        bad += part.bad
        add_dropped(check, part)
        done += len(job)
        if progress is not None:
            progress(done, len(kept))
    return kept[~np.isin(kept, bad)]


def _check_span(numbers: list[int]) -> _Part:
    (records,) = _in_process
    part = _Part()
    for number in numbers:
        try:
            decode_picture(records.sample(number).encoded)
        except PictureError as error:
            reason, detail = "unreadable_picture", str(error)
        except DataError as error:
            reason, detail = "damaged_record", str(error)
        else:
            continue
        part.bad.append(number)
        drop(part, reason, Example(records.where(number), "", detail))
    return part
