"""Makes a case small while the same check still fails."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace

from tests.migrate.fuzzing.cases import Case
from tests.migrate.fuzzing.checks import check_case
from trainferry.migrate.options import Options

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")


def shrink(case: Case, mark: str, seconds: float) -> Case:
    """Fewer files, plainer options, then fewer lines and tokens."""
    end = time.monotonic() + seconds
    full = "way back" in mark or "in place" in mark

    def fails(one: Case) -> bool:
        if time.monotonic() > end:
            return False
        return any(problem.mark == mark for problem in check_case(one, full=full).problems)

    for index in reversed(range(len(case.files))):
        fewer = replace(case, files=case.files[:index] + case.files[index + 1 :])
        if fewer.files and fails(fewer):
            case = fewer
    case = _plainer(case, fails)
    for pattern in (_LINE, _TOKEN, _LINE, _TOKEN):
        for index in range(len(case.files)):
            case = _fewer_pieces(case, index, pattern, fails)
    return case


def _plainer(case: Case, fails: Callable[[Case], bool]) -> Case:
    for options in (
        Options(),
        replace(case.options, also=frozenset()),
        replace(case.options, chip="910b"),
        replace(case.options, adapter="explicit"),
        replace(case.options, distributed="auto"),
    ):
        changed = replace(case, options=options)
        if fails(changed):
            case = changed
    for name in sorted(case.options.also):
        changed = replace(case, options=replace(case.options, also=case.options.also - {name}))
        if fails(changed):
            case = changed
    return case


def _fewer_pieces(
    case: Case, index: int, pattern: re.Pattern[bytes], fails: Callable[[Case], bool]
) -> Case:
    pieces = pattern.findall(case.files[index][1])
    size = max(1, len(pieces) // 2)
    while True:
        place = 0
        removed = False
        while place < len(pieces):
            fewer = pieces[:place] + pieces[place + size :]
            changed = _with_data(case, index, b"".join(fewer))
            if fails(changed):
                case, pieces, removed = changed, fewer, True
            else:
                place += size
        if size == 1 and not removed:
            return case
        size = max(1, size // 2)


def _with_data(case: Case, index: int, data: bytes) -> Case:
    path, _, mode = case.files[index]
    return replace(case, files=(*case.files[:index], (path, data, mode), *case.files[index + 1 :]))
