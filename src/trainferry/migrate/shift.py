"""Where a place of a file is after some edits, and where it was before."""

from __future__ import annotations

import bisect
from collections.abc import Collection

from trainferry.migrate.edit import Edit, with_line_ends_of
from trainferry.migrate.read import Source


class Shift:
    """Leads from places after some edits back to those before, and ahead."""

    def __init__(self, source: Source, edits: Collection[Edit]) -> None:
        self.after: list[int] = [0]
        self.before: list[int] = [0]
        self.removals = [edit for edit in edits if edit.removes]
        shift = 0
        for edit in sorted(edits):
            text = with_line_ends_of(source.data, edit.start, edit.text).encode(source.encoding)
            self.after += [edit.start + shift, edit.start + shift + len(text)]
            self.before += [edit.start, edit.end]
            shift += len(text) - (edit.end - edit.start)

    def back(self, place: int) -> int:
        """Where something started; in the middle of new text, where the old text did."""
        return _lead_start(self.after, self.before, place)

    def back_end(self, place: int) -> int:
        """Where something ended; in the middle of new text, where the old text did."""
        return _lead_end(self.after, self.before, place)

    def removes(self, start: int, end: int) -> bool:
        """Whether one edit took all of this away."""
        return any(edit.start <= start < end <= edit.end for edit in self.removals)

    def ahead(self, place: int) -> int:
        """Where something starts that started here."""
        return _lead_start(self.before, self.after, place)

    def ahead_end(self, place: int) -> int:
        """Where something ends that ended here."""
        return _lead_end(self.before, self.after, place)


def _lead_start(here: list[int], there: list[int], place: int) -> int:
    index = bisect.bisect_right(here, place) - 1
    if index % 2:  # inside an edit
        return there[index]
    return there[index] + place - here[index]


def _lead_end(here: list[int], there: list[int], place: int) -> int:
    index = bisect.bisect_left(here, place) - 1
    if index < 0:
        return 0
    if index % 2:
        return there[index + 1]
    return there[index] + place - here[index]
